// What a session and the hooks are told in a training run, and in which order, whether or not the
// run fails.
#include <rota/training_session.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include <rota/trainer.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::outcomes_of_ranks;
using testing::small_dataset;

const Dataset kSessionTrain =
    small_dataset(27);  // Two ranks with batches of 10: 2 steps per epoch.
const Dataset kSessionTest = small_dataset(9);

Model<float> model_of_session() { return Model<float>({6, 6, 1}, {dense(4)}); }

TrainerOptions options_of_session() {
  TrainerOptions options;
  options.epochs = 2;
  options.batch_size = 10;
  return options;
}

// Keeps a state in memory. Writes down what it is told.
class Saver : public TrainingSession {
 public:
  Saver(std::vector<std::string>& told, const State* from) : told_(told), from_(from) {}

  BeginReport begin(const StateVisit& visit) override {
    told_.emplace_back("begin");
    visit_ = visit;
    if (from_ == nullptr) return {};
    write_state(*from_, visit);
    return {.fresh = false, .path = "a/path", .saved_world_size = 2};
  }
  void begin_step(std::uint64_t step) override {
    if (step == wanted) ask_for_checkpoint();
  }
  void end_step(std::uint64_t step, const TrainingWishes& agreed) override {
    tell("step " + std::to_string(step), agreed);
  }
  void between_epochs(std::uint64_t step, const TrainingWishes& agreed) override {
    tell("after " + std::to_string(step), agreed);
  }
  std::optional<CheckpointReport> finished() override {
    if (reports_.empty()) return std::nullopt;
    const CheckpointReport report = reports_.front();
    reports_.pop_front();
    return report;
  }
  void end(std::uint64_t step) override { tell("end " + std::to_string(step), {}); }
  void fail(const std::string& first_cause) noexcept override {
    told_.push_back("fail: " + first_cause);
  }
  void before_update(std::size_t) override { ++update_count; }
  void before_send(std::size_t) override {}

  std::uint64_t wanted = 0;
  std::size_t update_count = 0;
  State saved;

 private:
  void tell(const std::string& what, const TrainingWishes& agreed) {
    told_.push_back(what + (agreed.checkpoint ? ", checkpoint" : "") +
                    (agreed.best ? ", best" : "") + (agreed.stop ? ", stop" : ""));
    if (!agreed.checkpoint) return;
    saved = copy_state(visit_);
    reports_.push_back({.step = 1, .path = "path " + std::to_string(told_.size())});
  }

  std::vector<std::string>& told_;
  const State* from_;
  StateVisit visit_;
  std::deque<CheckpointReport> reports_;
};

class Diary : public TrainingHook {
 public:
  explicit Diary(std::vector<std::string>& told) : told_(told) {}
  void on_begin(const BeginReport& report) override {
    told_.push_back("hook: begin after " + std::to_string(report.step) + " " + report.path);
  }
  void on_step(const StepReport& report) override {
    told_.push_back("hook: step " + std::to_string(report.steps));
    if (report.steps == failing_step) throw std::runtime_error("the hook is tired");
  }
  void on_evaluation(const EvaluationReport& report) override {
    told_.emplace_back("hook: evaluation");
    if (report.epoch == best_epoch) ask_to_keep();
  }
  void on_epoch(const EpochReport&) override { told_.emplace_back("hook: epoch"); }
  void on_checkpoint(const CheckpointReport& report) override {
    told_.push_back("hook: checkpoint " + report.path);
  }
  void on_end(const EndReport& report) override {
    told_.push_back("hook: end " + report.checkpoint);
  }
  void on_failure(const std::string& first_cause) noexcept override {
    told_.push_back("hook: failure: " + first_cause);
  }

  std::size_t failing_step = 0;
  std::size_t best_epoch = 0;

 private:
  std::vector<std::string>& told_;
};

struct Ran {
  std::vector<std::string> told;
  State saved;
  EndReport end;
  std::size_t update_count = 0;
};

// Runs two ranks. Rank 1's session asks for a checkpoint after step `wanted`, and rank 0's hook
// finds the weights best after `best_epoch`.
std::vector<Ran> run_two(std::uint64_t wanted, std::size_t best_epoch = 0,
                         const std::vector<State>* from = nullptr) {
  std::vector<Ran> ran(2);
  testing::on_every_rank(2, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    Trainer<float> trainer(communicator, model_of_session(), kSessionTrain, kSessionTest,
                           options_of_session());
    Saver saver(ran[rank].told, from == nullptr ? nullptr : &(*from)[rank]);
    Diary diary(ran[rank].told);
    if (rank == 1) saver.wanted = wanted;
    if (rank == 0) diary.best_epoch = best_epoch;
    trainer.set_session(saver);
    trainer.add_hook(diary);
    ran[rank].end = trainer.run();
    ran[rank].saved = saver.saved;
    ran[rank].update_count = saver.update_count;
  });
  return ran;
}

TEST(TrainingSession, IsToldOfEverythingInOrder) {
  for (const Ran& rank : run_two(3, 1)) {
    EXPECT_THAT(rank.told,
                ::testing::ElementsAre(
                    "begin", "hook: begin after 0 ", "after 0",          //
                    "hook: step 1", "step 1", "hook: step 2", "step 2",  //
                    "hook: evaluation", "hook: epoch",                   //
                    "after 2, checkpoint, best", "hook: checkpoint path 10", "hook: step 3",
                    "step 3, checkpoint", "hook: checkpoint path 13", "hook: step 4", "step 4",
                    "hook: evaluation", "hook: epoch", "after 4", "end 4", "hook: end path 13"));
    EXPECT_EQ(rank.end.checkpoint, "path 13");
    EXPECT_EQ(rank.update_count, 4u * 2u);
  }
}

TEST(TrainingSession, RestoresWhatItSaved) {
  const std::vector<Ran> whole = run_two(3);
  const std::vector<State> saved = {whole[0].saved, whole[1].saved};
  const std::vector<Ran> second = run_two(0, 0, &saved);
  for (const Ran& rank : second) {
    EXPECT_THAT(rank.told,
                ::testing::ElementsAre("begin", "hook: begin after 3 a/path", "after 3",
                                       "hook: step 4", "step 4", "hook: evaluation", "hook: epoch",
                                       "after 4", "end 4", "hook: end a/path"));
    EXPECT_EQ(rank.end.weights_hash, whole[0].end.weights_hash);
  }
}

// The session of the Trainer guards the steps of the replica, although it has not begun.
TEST(TrainingSession, TheReplicaMayTakeAStepBeforeTheRun) {
  const testing::TemporaryFolder folder;
  testing::on_every_rank(2, [&](Communicator& communicator) {
    TrainerOptions options = options_of_session();
    options.session.checkpoints.folder = folder.path() / "run";
    Trainer<float> trainer(communicator, model_of_session(), kSessionTrain, kSessionTest, options);
    BatchBuffer<float> buffer(kSessionTrain, 10);
    const std::vector<std::uint64_t> samples = {1, 2, 3};
    EXPECT_EQ(trainer.replica().step(buffer.gather(samples), {}).samples, 6u);
    EXPECT_EQ(trainer.run().steps, 4u);
  });
}

TEST(TrainingSession, IsToldOfAFailureOnEveryRankOnce) {
  std::vector<std::vector<std::string>> told(2);
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    Trainer<float> trainer(communicator, model_of_session(), kSessionTrain, kSessionTest,
                           options_of_session());
    Saver saver(told[rank], nullptr);
    Diary diary(told[rank]);
    if (rank == 1) diary.failing_step = 3;
    trainer.set_session(saver);
    trainer.add_hook(diary);
    trainer.run();
  });
  EXPECT_THROW(std::rethrow_exception(outcomes[1]), std::runtime_error);
  EXPECT_EQ(error_of(outcomes[0]).code(), ErrorCode::kAborted);
  for (const auto& rank : told) {
    ASSERT_GE(rank.size(), 2u);
    EXPECT_THAT(rank.back(), ::testing::ContainsRegex("^hook: failure: .*the hook is tired"));
    EXPECT_THAT(rank[rank.size() - 2], ::testing::ContainsRegex("^fail: .*the hook is tired"));
    EXPECT_EQ(std::ranges::count_if(
                  rank, [](const std::string& line) { return line.find("fail") != line.npos; }),
              2);
    EXPECT_THAT(rank, ::testing::Not(::testing::Contains(HasSubstr("end"))));
  }
}

}  // namespace
}  // namespace rota
