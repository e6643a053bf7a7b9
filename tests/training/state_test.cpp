// If a training run is interrupted and continues elsewhere, it ends with the same bits as an
// uninterrupted run. Method: a hook copies the state at every step. Each copy goes to the new
// trainers of a new world, which then run to the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <rota/trainer.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::small_dataset;

constexpr std::size_t kWorld = 2;
constexpr std::size_t kEpochSteps = 20;  // Steps of an epoch; the last one is shorter.
const Dataset kLearnt = small_dataset(10 * kEpochSteps - 3);
const Dataset kHeldBack = small_dataset(31);

// Returns a model whose first layer is large enough for a codec.
Model<float> model_of(std::size_t units = 512) {
  return Model<float>({6, 6, 1}, {dense(units), relu(), dropout(0.25), dense(4)});
}

TrainerOptions options_with(const OptimizerOptions& optimizer, Codec codec = Codec::kIdentity) {
  TrainerOptions options;
  options.epochs = 2;
  options.batch_size = 5;
  options.seed = 11;
  options.optimizer = optimizer;
  options.final_learning_rate_factor = 0.1;
  options.buckets.codec = codec;
  return options;
}

const OptimizerOptions kSgd = Sgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.001};
const OptimizerOptions kAdam = Adam{.learning_rate = 0.002};

// A hook that adds up the losses, so it has a state of its own, and copies the state at each step.
class Memory : public TrainingHook {
 public:
  explicit Memory(Trainer<float>& trainer) : trainer_(trainer) {}
  void on_step(const StepReport& report) override {
    losses_ += static_cast<std::uint64_t>(report.score.loss * 1e6);
    states.push_back(trainer_.state());
  }
  void on_epoch(const EpochReport& report) override { epochs.push_back(report); }
  void visit_state(StateVisitor& visitor) override {
    visitor.visit_counter({.name = "memory/losses"}, losses_);
  }

  std::vector<State> states;
  std::vector<EpochReport> epochs;

 private:
  Trainer<float>& trainer_;
  std::uint64_t losses_ = 0;
};

struct Ended {
  State state;
  EndReport end;
  std::vector<EpochReport> epochs;
  std::vector<State> states;
};

// Runs every rank from the start, or from the rank's state in `from`. Returns how each rank ends.
std::vector<Ended> train(const TrainerOptions& options, const std::vector<State>* from = nullptr) {
  std::vector<Ended> ended(kWorld);
  on_every_rank(kWorld, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    Trainer<float> trainer(communicator, model_of(), kLearnt, kHeldBack, options);
    Memory memory(trainer);
    trainer.add_hook(memory);
    if (from != nullptr) trainer.give_state((*from)[rank]);
    ended[rank].end = trainer.run();
    ended[rank].state = trainer.state();
    ended[rank].epochs = memory.epochs;
    ended[rank].states = std::move(memory.states);
  });
  return ended;
}

// Returns the state without its seconds, which differ between runs.
State without_seconds(State state) {
  std::erase_if(state.items, [](const StateItem& item) { return item.name == "place/seconds"; });
  return state;
}

void expect_same_end(const std::vector<Ended>& cut, const std::vector<Ended>& whole) {
  for (std::size_t rank = 0; rank < kWorld; ++rank) {
    EXPECT_EQ(cut[rank].end.weights_hash, whole[rank].end.weights_hash);
    EXPECT_EQ(cut[rank].end.steps, 2 * kEpochSteps);
    EXPECT_EQ(cut[rank].end.test.loss, whole[rank].end.test.loss);
    ASSERT_EQ(cut[rank].epochs.size(), 2u);
    for (std::size_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(cut[rank].epochs[epoch].train.loss, whole[rank].epochs[epoch].train.loss);
      EXPECT_EQ(cut[rank].epochs[epoch].train.samples, kLearnt.count());
    }
    EXPECT_EQ(without_seconds(cut[rank].state), without_seconds(whole[rank].state));
  }
}

void expect_to_go_on_from_every_step(const TrainerOptions& options) {
  const std::vector<Ended> whole = train(options);
  ASSERT_EQ(whole[0].states.size(), 2 * kEpochSteps);
  for (std::size_t step = 0; step < kEpochSteps; ++step) {
    const std::vector<State> cut = {whole[0].states[step], whole[1].states[step]};
    expect_same_end(train(options, &cut), whole);
    if (::testing::Test::HasFailure()) FAIL() << "cut after step " << step + 1;
  }
}

TEST(State, GoesOnFromEveryStepBySgd) { expect_to_go_on_from_every_step(options_with(kSgd)); }

TEST(State, GoesOnFromEveryStepByAdam) { expect_to_go_on_from_every_step(options_with(kAdam)); }

TEST(State, GoesOnFromEveryStepByACodecWithFeedback) {
  expect_to_go_on_from_every_step(options_with(kSgd, Codec::kTopK));
}

// The other trainers of a process make calls of their own, and so do evaluations.
TEST(State, GoesOnFromEveryStepByACodecOfChance) {
  expect_to_go_on_from_every_step(options_with(kSgd, Codec::kInt8Stochastic));
}

// A replica has no position in the data.
TEST(State, OfAReplicaGoesOnWithoutATrainer) {
  std::vector<std::uint64_t> hashes(kWorld);
  on_every_rank(kWorld, [&](Communicator& communicator) {
    BatchBuffer<float> buffer(kLearnt, 10);
    const std::vector<std::uint64_t> samples = {1, 2, 3, 5, 8, 13};
    const auto run = [&](Replica<float>& replica, std::size_t first, std::size_t last) {
      for (std::size_t step = first; step < last; ++step) {
        Batch<float> batch = buffer.gather(samples);
        batch.step = step;
        replica.step(batch, {.step = step});
      }
      return replica.weights_hash();
    };
    Replica<float> whole(communicator, model_of(), {.optimizer = kAdam, .seed = 1});
    run(whole, 0, 3);
    const State state = whole.state();
    const std::uint64_t hash = run(whole, 3, 6);
    Replica<float> other(communicator, model_of(), {.optimizer = kAdam, .seed = 2});
    other.give_state(state);
    EXPECT_EQ(run(other, 3, 6), hash);
  });
}

// For items that are equal on all ranks, one copy is enough. All other items differ between ranks.
TEST(State, SaysWhatRanksShare) {
  const std::vector<Ended> whole = train(options_with(kSgd, Codec::kTopK));
  ASSERT_EQ(whole[0].state.items.size(), whole[1].state.items.size());
  std::vector<std::string> own;
  for (std::size_t i = 0; i < whole[0].state.items.size(); ++i) {
    const StateItem& item = whole[0].state.items[i];
    const bool is_own = item.owner == StateOwner::kRank;
    if (is_own) own.push_back(item.name);
    EXPECT_EQ(item != whole[1].state.items[i], is_own) << item.name;
  }
  EXPECT_THAT(own, ::testing::ElementsAre("place/seconds", "rank", "codec/gradient 0/lost"));
}

struct Fitted {
  std::size_t units = 512;
  TrainerOptions options = options_with(kSgd);
};

// Returns the error that every rank with `fitted` gets for `states`; "accepted" if there is none. A
// refused state changes nothing.
std::string refusal(const std::vector<State>& states, const Fitted& fitted = {}) {
  const auto outcomes = outcomes_of_ranks(states.size(), [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_of(fitted.units), kLearnt, kHeldBack,
                           fitted.options);
    const State before = trainer.state();
    try {
      trainer.give_state(states[communicator.rank()]);
    } catch (const Error&) {
      EXPECT_EQ(trainer.state(), before);
      throw;
    }
  });
  const std::string what = error_of(outcomes[0]).what();
  for (const auto& outcome : outcomes) EXPECT_EQ(error_of(outcome).what(), what);
  return what.empty() ? "accepted" : what;
}

// Returns the state of each rank at the start.
std::vector<State> states_of(const Fitted& fitted, std::size_t world_size = kWorld) {
  std::vector<State> states(world_size);
  on_every_rank(world_size, [&](Communicator& communicator) {
    Trainer<float> trainer(communicator, model_of(fitted.units), kLearnt, kHeldBack,
                           fitted.options);
    states[communicator.rank()] = trainer.state();
  });
  return states;
}

TEST(StateRefusal, NamesBothModels) {
  EXPECT_EQ(refusal(states_of({})), "accepted");
  EXPECT_THAT(
      refusal(states_of({.units = 9})),
      HasSubstr("the state does not fit: it has model 6 × 6 × 1, dense 9, relu, dropout 0.25, "
                "dense 4, but this training run has model 6 × 6 × 1, dense 512, relu, dropout "
                "0.25, dense 4"));
}

TEST(StateRefusal, NamesBothOptimizers) {
  EXPECT_THAT(
      refusal(states_of({.options = options_with(kAdam)})),
      HasSubstr("it has optimizer adam, learning rate 0.002, beta1 0.9, beta2 0.999, "
                "epsilon 1e-08, weight decay 0, but this training run has optimizer sgd, learning "
                "rate 0.05, momentum 0.9, weight decay 0.001"));
}

TEST(StateRefusal, NamesBothCodecs) {
  EXPECT_THAT(refusal(states_of({.options = options_with(kSgd, Codec::kTopK)})),
              HasSubstr("it has codec top-k, but this training run has codec identity"));
}

// A state fits only a world of the same size: the feedback belongs to single ranks, and a step in
// another world distributes the samples differently.
TEST(StateRefusal, NamesBothWorlds) {
  EXPECT_THAT(refusal({states_of({}, 3).front()}),
              HasSubstr("it has world of 3 ranks, but this training run has world of 1 ranks"));
}

TEST(StateRefusal, SaysWhereAStateIsCutShort) {
  std::vector<State> states = states_of({});
  for (State& state : states) state.items.pop_back();
  EXPECT_THAT(refusal(states), HasSubstr("it has nothing more, but this training run has "
                                         "optimizer/3.dense.biases/velocity [4] of float32"));
  states = states_of({});
  for (State& state : states) state.items.back().bytes.pop_back();
  EXPECT_THAT(refusal(states),
              HasSubstr("it has optimizer/3.dense.biases/velocity [4] of float32 "
                        "in 15 bytes, but this training run has optimizer/3.dense.biases/"
                        "velocity [4] of float32 in 16 bytes"));
}

TEST(StateRefusal, SaysWhereAStateIsLonger) {
  std::vector<State> states = states_of({});
  for (State& state : states) state.items.push_back({.name = "more", .bytes = {}});
  EXPECT_THAT(refusal(states), HasSubstr("it has more , but this training run has nothing more"));
}

void set_samples(State& state, std::uint64_t samples) {
  for (StateItem& item : state.items) {
    if (item.name != "place/samples of the epoch's order") continue;
    std::memcpy(item.bytes.data(), &samples, sizeof samples);
  }
}

TEST(StateRefusal, SaysWhereNoStepBegins) {
  std::vector<State> states = states_of({});
  for (State& state : states) set_samples(state, 190);
  EXPECT_EQ(refusal(states), "accepted");
  for (const std::uint64_t samples : {std::uint64_t{7}, std::uint64_t{198}, ~std::uint64_t{0}}) {
    for (State& state : states) set_samples(state, samples);
    EXPECT_EQ(refusal(states),
              "the state is " + std::to_string(samples) +
                  " samples into epoch 1, where no step of this training run begins");
  }
}

// If ranks with different states went on, their weights would never be equal again.
TEST(StateRefusal, NamesARankThatWasGivenAnother) {
  std::vector<State> states = states_of({});
  set_samples(states[1], 10);
  EXPECT_THAT(refusal(states), HasSubstr("rank 1 has state of hash "));
  states = states_of({});
  states[1].items.pop_back();
  EXPECT_THAT(refusal(states),
              HasSubstr("rank 1 has state of another training run: the state does"));
}

TEST(StateRefusal, IsAReplicasInTheMiddleOfAStep) {
  Communicator alone{CommunicatorOptions{}};
  Replica<float> replica(alone, model_of(), {});
  BatchBuffer<float> buffer(kLearnt, 3);
  const std::vector<std::uint64_t> samples = {1, 2, 3};
  replica.accumulate(buffer.gather(samples));
  EXPECT_THROW(replica.state(), Error);
  replica.step({}, {});
  EXPECT_NO_THROW(replica.state());
}

}  // namespace
}  // namespace rota
