// A training run goes on in a world of another size, in the middle of an epoch. Method: the model
// is one number. In each step it falls by the learning rate, whatever the samples are, and the data
// set records which samples were trained on.
#include <rota/trainer.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "training/thread_ranks.h"

namespace rota {
namespace {

struct Counted {
  double loss = 0;
  std::size_t samples = 0;
  std::array<double, 1> sums() const { return {loss}; }
  static Counted from_sums(const std::array<double, 1>& sums, std::size_t samples) {
    return {sums[0], samples};
  }
};

class Falling {
 public:
  using Element = double;
  using BatchType = std::vector<std::uint64_t>;
  using ScoreType = Counted;

  std::span<const ParameterInfo> parameters() const { return parameters_; }
  void bind(std::size_t, std::span<double> values, std::span<double> gradient) {
    value_ = values.data();
    gradient_ = gradient.data();
  }
  void initialize(std::uint64_t) { *value_ = 0; }
  Counted forward(const BatchType& samples) {
    count_ = static_cast<double>(samples.size());
    return evaluate(samples);
  }
  void backward(const std::function<void(std::size_t)>& gradient_ready, Gradients) {
    *gradient_ = count_;  // The mean is 1.
    if (gradient_ready) gradient_ready(0);
  }
  Counted evaluate(const BatchType& samples) const { return {0, samples.size()}; }

 private:
  std::vector<ParameterInfo> parameters_ = {{"height", {1}}};
  double* value_ = nullptr;
  double* gradient_ = nullptr;
  double count_ = 0;
};

// Writes a state of another world: the pieces that ranks share, by name. Facts may differ if their
// StateFit allows it.
class SharedWriter final : public StateVisitor {
 public:
  explicit SharedWriter(const State& state) {
    for (const StateItem& item : state.items) items_[item.name] = &item;
  }
  void visit_fact(const StatePiece& piece, const std::string& value) override {
    if (piece.fit == StateFit::kLoose) return;
    const auto& bytes = items_.at(piece.name)->bytes;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), value);
  }
  void visit_counter(const StatePiece& piece, std::uint64_t& value) override {
    std::memcpy(&value, items_.at(piece.name)->bytes.data(), sizeof value);
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t>, Values values) override {
    if (piece.owner == StateOwner::kRank) return;
    std::memcpy(values.data(), items_.at(piece.name)->bytes.data(), values.bytes());
  }

 private:
  std::map<std::string, const StateItem*> items_;
};

// Restores a state, and saves one when the run ends.
class Mover : public TrainingSession {
 public:
  Mover(const State* from, State& to) : from_(from), to_(to) {}
  BeginReport begin(const StateVisit& visit) override {
    visit_ = visit;
    if (from_->items.empty()) return {};
    SharedWriter writer(*from_);
    visit(writer);
    return {.fresh = false};
  }
  void begin_step(std::uint64_t) override {}
  void end_step(std::uint64_t, const TrainingWishes&) override {}
  void between_epochs(std::uint64_t, const TrainingWishes&) override {}
  std::optional<CheckpointReport> finished() override { return std::nullopt; }
  void end(std::uint64_t) override { to_ = copy_state(visit_); }
  void fail(const std::string&) noexcept override {}
  void before_update(std::size_t) override {}
  void before_send(std::size_t) override {}

 private:
  const State* from_;
  State& to_;
  StateVisit visit_;
};

// Stops after some steps, counted since the first start. Records how far the number falls in each
// step.
class Stopper : public BasicTrainingHook<Counted> {
 public:
  Stopper(std::uint64_t after, Replica<double, Falling>& replica)
      : after_(after), replica_(replica) {}
  void on_begin(const BeginReport&) override {
    height_ = replica_.values(0)[0];
    ask_to_stop("the world changes", after_);
  }
  void on_step(const BasicStepReport<Counted>& report) override {
    falls.push_back(height_ - replica_.values(0)[0]);
    height_ = replica_.values(0)[0];
    reports.push_back(report);
  }
  std::vector<double> falls;
  std::vector<BasicStepReport<Counted>> reports;

 private:
  std::uint64_t after_;
  Replica<double, Falling>& replica_;
  double height_ = 0;
};

constexpr std::size_t kCount = 1000;
constexpr std::size_t kEpochs = 2;

struct Part {
  std::size_t world_size = 1;
  std::size_t batch_size = 1;
  std::uint64_t until_step = 0;
  std::size_t epochs = kEpochs;
};

struct Trained {
  State state;
  std::vector<std::uint64_t> samples;  // In all parts, in any order.
  std::vector<double> falls;
  std::vector<BasicStepReport<Counted>> reports;
  BasicEndReport<Counted> end;
};

void train_part(const Part& part, Trained& trained) {
  const State from = trained.state;
  std::mutex mutex;
  testing::on_every_rank(part.world_size, [&](Communicator& communicator) {
    const auto gather = [](const SampleRun& run) {
      return std::vector<std::uint64_t>(run.samples.begin(), run.samples.end());
    };
    const SampleSource<std::vector<std::uint64_t>> train = {
        kCount, "counted", [&](const SampleRun& run) {
          const std::lock_guard lock(mutex);
          trained.samples.insert(trained.samples.end(), run.samples.begin(), run.samples.end());
          return gather(run);
        }};
    const SampleSource<std::vector<std::uint64_t>> test = {8, "eight", gather};
    TrainerOptions options;
    options.epochs = part.epochs;
    options.batch_size = part.batch_size;
    options.optimizer = Sgd{.learning_rate = 1};
    options.final_learning_rate_factor = 0.5;
    Trainer<double, Falling> trainer(communicator, Falling(), train, test, options);
    State to;
    Mover mover(&from, to);
    Stopper stopper(part.until_step, trainer.replica());
    trainer.set_session(mover);
    trainer.add_hook(stopper);
    const auto end = trainer.run();
    if (communicator.rank() != 0) return;
    trained.state = to;
    trained.end = end;
    trained.falls.insert(trained.falls.end(), stopper.falls.begin(), stopper.falls.end());
    trained.reports.insert(trained.reports.end(), stopper.reports.begin(), stopper.reports.end());
  });
}

TEST(OtherWorld, TrainsOnEachSampleOnce) {
  Trained trained;
  train_part({.world_size = 4, .batch_size = 50, .until_step = 2}, trained);
  EXPECT_EQ(trained.samples.size(), 400u);
  train_part({.world_size = 3, .batch_size = 37, .until_step = 4}, trained);
  EXPECT_EQ(trained.samples.size(), 622u);
  train_part({.world_size = 8, .batch_size = 10, .until_step = 7}, trained);
  EXPECT_EQ(trained.samples.size(), 862u);
  train_part({.world_size = 1, .batch_size = 45, .until_step = 11}, trained);
  EXPECT_EQ(trained.samples.size(), kCount);
  std::vector<std::uint64_t> every(kCount);
  std::iota(every.begin(), every.end(), std::uint64_t{0});
  EXPECT_THAT(trained.samples, ::testing::UnorderedElementsAreArray(every));
  EXPECT_EQ(trained.reports.back().step, 11u);
  EXPECT_EQ(trained.reports.back().step_count, 11u);
  EXPECT_EQ(trained.end.test.samples, 8u) << "the epoch is done, so it was evaluated";

  trained.samples.clear();
  train_part({.world_size = 3, .batch_size = 100, .until_step = 99}, trained);
  EXPECT_THAT(trained.samples, ::testing::UnorderedElementsAreArray(every));
  EXPECT_FALSE(trained.end.stopped);
  EXPECT_EQ(trained.end.steps, 15u);
  EXPECT_EQ(trained.reports.back().samples, 2 * kCount);
}

// The learning rate falls from 1 to 1/2 over 2000 samples. It is only about right in each step,
// because a world counts in steps of its own size.
TEST(OtherWorld, LearnsByTheShareOfSamples) {
  Trained trained;
  train_part({.world_size = 4, .batch_size = 50, .until_step = 2}, trained);
  train_part({.world_size = 3, .batch_size = 37, .until_step = 4}, trained);
  train_part({.world_size = 2, .batch_size = 50, .until_step = 99}, trained);
  ASSERT_EQ(trained.falls.size(), 4u + 4u + 10u);
  std::uint64_t done = 0;
  for (std::size_t step = 0; step < trained.falls.size(); ++step) {
    const double share = static_cast<double>(done) / (kEpochs * kCount);
    EXPECT_NEAR(trained.falls[step], 1 - 0.5 * share, 0.025) << "step " << step;
    done = trained.reports[step].samples;
  }
  EXPECT_NEAR(trained.falls[4], 1 - 0.5 * 622 / 2000, 1e-12) << "here steps end with the epoch";
}

// In the third world, steps begin at sample 622 and not at a multiple of their size. A state of
// that place fits the same world.
TEST(OtherWorld, GoesOnAgainFromAPlaceBetweenItsSteps) {
  Trained trained;
  train_part({.world_size = 4, .batch_size = 50, .until_step = 2}, trained);
  train_part({.world_size = 3, .batch_size = 37, .until_step = 4}, trained);
  train_part({.world_size = 2, .batch_size = 100, .until_step = 5}, trained);
  EXPECT_EQ(trained.samples.size(), 822u);
  train_part({.world_size = 2, .batch_size = 100, .until_step = 6}, trained);
  EXPECT_EQ(trained.samples.size(), kCount);
}

// Whatever is left of the epoch: a step of this world, or the evaluation.
TEST(OtherWorld, SaysDoneAgainWithoutAStep) {
  Trained trained;
  train_part({.world_size = 2, .batch_size = 100, .until_step = 99}, trained);
  const auto end = trained.end;
  const std::size_t steps = trained.falls.size();
  train_part({.world_size = 3, .batch_size = 100, .until_step = 99}, trained);
  EXPECT_EQ(trained.falls.size(), steps);
  EXPECT_FALSE(trained.end.stopped);
  EXPECT_EQ(trained.end.steps, steps);
  EXPECT_EQ(trained.end.weights_hash, end.weights_hash);
  EXPECT_EQ(trained.end.test.samples, 8u);
}

TEST(OtherWorld, GoesOnWithMoreEpochs) {
  Trained trained;
  train_part({.world_size = 2, .batch_size = 100, .until_step = 99}, trained);
  EXPECT_EQ(trained.end.steps, 10u);
  trained.samples.clear();
  train_part({.world_size = 2, .batch_size = 100, .until_step = 99, .epochs = 3}, trained);
  EXPECT_EQ(trained.end.steps, 15u);
  EXPECT_EQ(trained.samples.size(), kCount);
  EXPECT_EQ(trained.reports.back().epoch, 3u);
}

}  // namespace
}  // namespace rota
