// Tests batches that a thread gathers ahead.
#include <rota/prefetch.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rota/trainer.h>

#include "testing/error_of.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Positions = std::vector<std::uint64_t>;

Positions same(const SampleRun& run) { return {run.samples.begin(), run.samples.end()}; }

TEST(Prefetch, ReturnsTheBatchesInTheOrderInWhichTheyWereAskedFor) {
  Prefetch<Positions> prefetch({100, "", same}, 3);
  std::uint64_t asked = 0;
  for (std::uint64_t returned = 0; returned < 100; ++returned) {
    for (; asked < returned + 3; ++asked) prefetch.ask({.samples = Positions{asked, asked + 1}});
    EXPECT_THAT(prefetch.next(), ElementsAre(returned, returned + 1));
  }
}

TEST(Prefetch, HandsOverSeedAndStep) {
  Prefetch<Positions> prefetch({9, "",
                                [](const SampleRun& run) {
                                  return Positions{run.seed, run.step};
                                }},
                               1);
  prefetch.ask({.samples = {}, .seed = 5, .step = 6});
  EXPECT_THAT(prefetch.next(), ElementsAre(5, 6));
}

// A source with memory of its own in each copy. The batch that was returned stays as it is while
// the thread gathers the following ones.
TEST(Prefetch, KeepsABatchUntilTheNextOne) {
  const Dataset data = testing::small_dataset(20);
  const Model<float> model({6, 6, 1}, {dense(4)});
  const auto source = samples_of(data, model, 1, "training");
  Prefetch<Batch<float>> prefetch(source, 2);
  for (const std::uint64_t sample : {0, 1}) prefetch.ask({.samples = Positions{sample}});
  for (std::uint64_t sample = 0; sample < 18; ++sample) {
    const Batch<float>& batch = prefetch.next();
    prefetch.ask({.samples = Positions{sample + 2}});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(batch.labels[0], data.labels[sample]);
    EXPECT_EQ(batch.samples[0], sample);
    EXPECT_EQ(batch.inputs[0], static_cast<float>(data.pixels[sample * 36]) / 255);
  }
}

TEST(Prefetch, ThrowsWhatGatherThrewInThePlaceOfItsBatch) {
  Prefetch<Positions> prefetch({9, "",
                                [](const SampleRun& run) {
                                  if (run.step == 1) throw std::out_of_range("shard 7 is gone");
                                  return same(run);
                                }},
                               3);
  for (const std::uint64_t step : {0, 1, 2}) {
    prefetch.ask({.samples = Positions{step}, .seed = 0, .step = step});
  }
  EXPECT_THAT(prefetch.next(), ElementsAre(0));
  try {
    prefetch.next();
    FAIL() << "no error";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "shard 7 is gone");
  }
  EXPECT_THAT(prefetch.next(), ElementsAre(2));
}

TEST(Prefetch, RefusesMoreThanItHasRoomForAndWhatNobodyAskedFor) {
  Prefetch<Positions> prefetch({9, "", same}, 2);
  const auto too_early = testing::error_of([&] { prefetch.next(); });
  ASSERT_TRUE(too_early);
  EXPECT_THAT(too_early->what(), HasSubstr("no batch was asked for"));
  prefetch.ask({.samples = Positions{1}});
  prefetch.ask({.samples = Positions{2}});
  const auto too_many = testing::error_of([&] { prefetch.ask({.samples = Positions{3}}); });
  ASSERT_TRUE(too_many);
  EXPECT_EQ(too_many->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(too_many->what(), HasSubstr("prefetch of 2 batches: as many are asked for"));
  EXPECT_THAT(prefetch.next(), ElementsAre(1));
  const auto empty = testing::error_of([&] { Prefetch<Positions>({9, "", same}, 0); });
  ASSERT_TRUE(empty);
  EXPECT_THAT(empty->what(), HasSubstr("expected 1 or more"));
}

// Of four batches, the first is being gathered when the others are forgotten, and when the object
// ends.
TEST(Prefetch, EndsAfterTheBatchUnderWay) {
  std::atomic<int> gathered = 0;
  std::latch begun(1);
  const SampleSource<Positions> slow = {
      9, "", [&](const SampleRun& run) {
        if (gathered++ == 0) begun.count_down();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return same(run);
      }};
  Prefetch<Positions> prefetch(slow, 4);
  for (const std::uint64_t sample : {0, 1, 2, 3}) prefetch.ask({.samples = Positions{sample}});
  begun.wait();
  prefetch.forget();
  EXPECT_EQ(gathered, 1);
  prefetch.ask({.samples = Positions{8}});
  EXPECT_THAT(prefetch.next(), ElementsAre(8));
  EXPECT_EQ(gathered, 2);
  {
    Prefetch<Positions> ended(slow, 4);
    for (const std::uint64_t sample : {0, 1, 2, 3}) ended.ask({.samples = Positions{sample}});
  }
  EXPECT_LE(gathered, 3);
}

// The model draws dropout for each sample and step, and a step has three micro-batches.
TEST(Prefetch, GivesATrainerTheSameBits) {
  const Dataset data = testing::small_dataset(100);
  const auto hash_with = [&](std::size_t world_size, std::size_t prefetch) {
    std::atomic<std::uint64_t> hash = 0;
    testing::on_every_rank(world_size, [&](Communicator& communicator) {
      Trainer<float> trainer(communicator,
                             Model<float>({6, 6, 1}, {dense(8), relu(), dropout(0.25), dense(4)}),
                             data, data,
                             {.epochs = 3,
                              .batch_size = 12 / world_size,
                              .accumulation_steps = 3,
                              .prefetch = prefetch});
      trainer.run();
      hash = trainer.run().weights_hash;  // Another run, from the first epoch on.
    });
    return hash.load();
  };
  for (const std::size_t world_size : {1, 2, 3}) {
    const std::uint64_t hash = hash_with(world_size, 0);
    for (const std::size_t prefetch : {1, 2, 50}) {
      EXPECT_EQ(hash_with(world_size, prefetch), hash) << world_size << " ranks, " << prefetch;
    }
  }
}

// The source fails at the samples of step 3. Two steps are done by then, however far ahead the
// thread is.
TEST(Prefetch, EndsATrainerAtTheStepWhoseBatchFailed) {
  class Counter : public TrainingHook {
   public:
    void on_step(const StepReport& report) override { steps = report.steps; }
    void on_failure(const std::string& first_cause) noexcept override { cause = first_cause; }
    std::uint64_t steps = 0;
    std::string cause;
  };
  const Dataset data = testing::small_dataset(60);
  for (const std::size_t prefetch : {0, 1, 5}) {
    Communicator alone{CommunicatorOptions{}};
    Model<float> model({6, 6, 1}, {dense(4)});
    auto train = samples_of(data, model, 10, "training");
    train.gather = [gather = train.gather](const SampleRun& run) {
      if (run.step == 2) throw Error(ErrorCode::kBadData, "record 12 is damaged");
      return gather(run);
    };
    auto test = samples_of(data, model, 10, "test");
    Trainer<float> trainer(alone, std::move(model), train, test,
                           {.batch_size = 10, .prefetch = prefetch});
    Counter counter;
    trainer.add_hook(counter);
    const auto error = testing::error_of([&] { trainer.run(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kBadData);
    EXPECT_EQ(counter.steps, 2u) << prefetch;
    EXPECT_EQ(counter.cause, "record 12 is damaged");
  }
}

// The first run stops after a step, and the second fails in one. What is gathered ahead by then
// belongs to no step of the third.
TEST(Prefetch, GathersNothingForTheNextRun) {
  class StopOnce : public TrainingHook {
   public:
    void on_begin(const BeginReport&) override {
      if (++runs_ == 1) ask_to_stop("the first run is over", 2);
    }

   private:
    int runs_ = 0;
  };
  const Dataset data = testing::small_dataset(60);
  const auto hash_with = [&](std::size_t prefetch) {
    Communicator alone{CommunicatorOptions{}};
    Model<float> model({6, 6, 1}, {dense(4)});
    std::atomic<bool> fails = false;
    auto train = samples_of(data, model, 10, "training");
    train.gather = [&fails, gather = train.gather](const SampleRun& run) {
      if (fails && run.step == 3) throw Error(ErrorCode::kBadData, "record 12 is damaged");
      return gather(run);
    };
    auto test = samples_of(data, model, 10, "test");
    Trainer<float> trainer(alone, std::move(model), train, test,
                           {.batch_size = 10, .prefetch = prefetch});
    StopOnce stop;
    trainer.add_hook(stop);
    EXPECT_EQ(trainer.run().steps, 2u);
    fails = true;
    EXPECT_TRUE(testing::error_of([&] { trainer.run(); }));
    fails = false;
    const EndReport end = trainer.run();
    EXPECT_EQ(end.steps, 6u);
    return end.weights_hash;
  };
  const std::uint64_t hash = hash_with(0);
  for (const std::size_t prefetch : {1, 5}) EXPECT_EQ(hash_with(prefetch), hash) << prefetch;
}

TEST(Prefetch, RefusesAThousandStepsAndMore) {
  const Dataset data = testing::small_dataset(60);
  Communicator alone{CommunicatorOptions{}};
  const auto error = testing::error_of([&] {
    Trainer<float>(alone, Model<float>({6, 6, 1}, {dense(4)}), data, data,
                   {.batch_size = 10, .prefetch = 1001});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(error->what()), "prefetch 1001: expected 0 to 1000 steps");
}

}  // namespace
}  // namespace rota
