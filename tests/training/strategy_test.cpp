// One program for every strategy: it runs once a replica, and the first failure ends them all.
#include <rota/strategy.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <rota/trainer.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::HasSubstr;
using testing::small_dataset;

MirroredOptions mirrored(std::size_t replicas) {
  MirroredOptions options;
  options.replicas = replicas;
  options.communicator.deadline = std::chrono::seconds(20);
  return options;
}

TEST(Strategy, RunsAProgramOnceOnEachReplicaAtTheSameTime) {
  for (const std::size_t replicas : {1, 2, 4}) {
    MirroredStrategy strategy(mirrored(replicas));
    EXPECT_EQ(strategy.replica_count(), replicas);
    EXPECT_EQ(strategy.world_size(), replicas);
    std::mutex mutex;
    std::set<std::size_t> ranks;
    std::set<std::thread::id> threads;
    strategy.run([&](Communicator& communicator) {
      EXPECT_EQ(communicator.world_size(), replicas);
      communicator.barrier();
      const std::lock_guard lock(mutex);
      ranks.insert(communicator.rank());
      threads.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(ranks.size(), replicas);
    EXPECT_EQ(threads.size(), replicas);
    EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
  }
}

TEST(Strategy, OfOneWorkerRunsOnTheCallersThread) {
  MultiWorkerStrategy strategy;
  EXPECT_EQ(strategy.replica_count(), 1u);
  EXPECT_EQ(strategy.world_size(), 1u);
  std::thread::id thread;
  strategy.run([&](Communicator&) { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(Strategy, RunsOneProgramAfterAnother) {
  MirroredStrategy strategy(mirrored(3));
  std::atomic<int> run_count{0};
  for (int i = 0; i < 3; ++i) {
    strategy.run([&](Communicator& communicator) {
      communicator.barrier();
      ++run_count;
    });
  }
  EXPECT_EQ(run_count, 9);
}

TEST(Strategy, RefusesToMirrorNothing) {
  try {
    MirroredStrategy strategy(mirrored(0));
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
}

// Method: one replica throws before a barrier that all others are in. Whichever that is, its own
// exception comes out, of its own type, and the others were told its words.
TEST(Strategy, EndsEveryReplicaWhenOneThrows) {
  for (std::size_t thrower = 0; thrower < 3; ++thrower) {
    MirroredStrategy strategy(mirrored(3));
    std::atomic<int> told_count{0};
    try {
      strategy.run([&](Communicator& communicator) {
        if (communicator.rank() == thrower) throw std::out_of_range("no such file");
        try {
          communicator.barrier();
        } catch (const Error& error) {
          if (error.code() == ErrorCode::kAborted &&
              std::string_view(error.what()).find("no such file") != std::string_view::npos) {
            ++told_count;
          }
          throw;
        }
      });
      FAIL() << "replica " << thrower << " threw";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "no such file");
    }
    EXPECT_EQ(told_count, 2);
    EXPECT_THROW(strategy.run([](Communicator& communicator) { communicator.barrier(); }), Error)
        << "what broke stays broken";
  }
}

// Method: the replica that fails tells the others first, and throws only when they have thrown.
TEST(Strategy, PassesOnTheCauseAndNotItsEcho) {
  MirroredStrategy strategy(mirrored(3));
  std::atomic<int> echo_count{0};
  try {
    strategy.run([&](Communicator& communicator) {
      if (communicator.rank() == 1) {
        communicator.abort("the disk is full");
        while (echo_count < 2) std::this_thread::yield();
        throw std::runtime_error("the disk is full");
      }
      try {
        communicator.barrier();
      } catch (...) {
        ++echo_count;
        throw;
      }
    });
    FAIL() << "replica 1 threw";
  } catch (const Error& error) {
    FAIL() << "an echo: " << error.what();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
}

// Method: every replica trains alone on the same, as if it were in a world of its own, while the
// others do; nothing that lies below a model may be shared without care.
TEST(Strategy, KeepsTheProductsOfReplicasApart) {
  const Dataset data = small_dataset(60);
  const auto train = [&] {
    Communicator alone{CommunicatorOptions{}};
    Model<float> model({6, 6, 1}, {convolution(4, 3), relu(), max_pool(2), dense(16), dense(4)});
    Trainer<float> trainer(alone, std::move(model), data, data, {.epochs = 40, .batch_size = 10});
    return trainer.run().weights_hash;
  };
  const std::uint64_t expected = train();
  MirroredStrategy strategy(mirrored(4));
  strategy.run([&](Communicator&) { EXPECT_EQ(train(), expected); });
}

TEST(Strategy, PassesOnWhatIsNoException) {
  MirroredStrategy strategy(mirrored(2));
  EXPECT_THROW(strategy.run([](Communicator& communicator) {
    if (communicator.rank() == 0) throw 42;
    communicator.barrier();
  }),
               int);
}

TEST(Strategy, PassesOnTheErrorOfAHook) {
  class Fails : public TrainingHook {
    void on_step(const StepReport& report) override {
      if (report.step == 2) throw std::runtime_error("the disk is full");
    }
  };
  const Dataset data = small_dataset(60);
  MirroredStrategy strategy(mirrored(3));
  try {
    strategy.run([&](Communicator& communicator) {
      Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, {dense(4)}), data, data,
                             {.epochs = 3, .batch_size = 5});
      Fails fails;
      if (communicator.rank() == 2) trainer.add_hook(fails);
      trainer.run();
    });
    FAIL() << "the hook threw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
}

// The same program, the same data: only the constructor differs. In a world of one, nothing else
// does either.
TEST(Strategy, TrainsTheSameProgramWhicheverItIs) {
  const Dataset data = small_dataset(60);
  const auto hash_of = [&](auto&& strategy) {
    std::atomic<std::uint64_t> hash{0};
    strategy.run([&](Communicator& communicator) {
      Model<float> model({6, 6, 1}, {convolution(2, 3), relu(), max_pool(2), dense(4)});
      Trainer<float> trainer(communicator, std::move(model), data, data,
                             {.epochs = 2, .batch_size = 10});
      const EndReport end = trainer.run();
      if (communicator.rank() == 0) hash = end.weights_hash;
    });
    return hash.load();
  };
  EXPECT_EQ(hash_of(MultiWorkerStrategy()), hash_of(MirroredStrategy(mirrored(1))));
  EXPECT_EQ(hash_of(MirroredStrategy(mirrored(3))), hash_of(MirroredStrategy(mirrored(3))));
}

}  // namespace
}  // namespace rota
