// What hooks remember in the checkpoints of a Session. Method: the ranks are threads, and the files
// are real.
#include <rota/session.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::TemporaryFolder;

class HookStateTest : public ::testing::Test {
 protected:
  SessionOptions options() const {
    SessionOptions options;
    options.checkpoints.folder = folder_.path() / "run";
    options.checkpoints.every_seconds = 0;
    return options;
  }

  TemporaryFolder folder_;
};

// Counts the steps, in a counter and in a tensor.
class Counts : public SessionHook {
 public:
  void on_begin(const Restored& restored) override { note = restored.note; }
  void on_step(std::uint64_t, std::span<const double>) override {
    ++count;
    sum += 1;
  }
  void visit_state(StateVisitor& visitor) override {
    const std::size_t one = 1;
    visitor.visit_counter({.name = "counts/steps"}, count);
    visitor.visit_tensor({.name = "counts/sum"}, std::span(&one, 1), std::span(&sum, 1));
  }

  std::uint64_t count = 0;
  double sum = 0;
  std::string note;  // Of on_begin().
};

// How a training run has its hook.
enum class Has : std::uint8_t { kNone, kOnAllRanks, kOnTheChief };

// Trains `steps` more steps, and returns the hook of this rank. The note is that of the session.
Counts train_with(Communicator& communicator, const SessionOptions& options, Has has,
                  std::uint64_t steps) {
  Counts counts;
  std::vector<float> weights(100);
  Session session(communicator, options);
  session.track("weights", weights);
  if (has == Has::kOnAllRanks) session.add_hook(counts);
  if (has == Has::kOnTheChief) session.add_chief_hook(counts);
  counts.note = session.restore().note;
  const std::uint64_t end = session.step() + steps;
  while (session.step() < end && session.begin_step()) {
    session.before_update();
    session.end_step();
  }
  session.end();
  return counts;
}

// A checkpoint is saved when the hooks have been told of its step. A save in the background might
// copy what hooks remember only after they are told.
TEST_F(HookStateTest, HooksGoOnWithWhatTheyRemember) {
  SessionOptions often = options();
  often.checkpoints.every_steps = 1;
  often.checkpoints.asynchronous = false;
  for (const Has has : {Has::kOnAllRanks, Has::kOnTheChief}) {
    std::filesystem::remove_all(folder_.path() / "run");
    on_every_rank(2, [&](Communicator& communicator) {
      train_with(communicator, often, has, 3);
      const Counts counts = train_with(communicator, often, has, 2);
      const bool has_hook = has == Has::kOnAllRanks || communicator.rank() == 0;
      EXPECT_EQ(counts.count, has_hook ? 5U : 0U);
      EXPECT_EQ(counts.sum, has_hook ? 5 : 0);
      EXPECT_EQ(counts.note, "");
    });
  }
}

TEST_F(HookStateTest, AHookThatTheCheckpointLacksBeginsAnewAndIsNamed) {
  for (const Has has : {Has::kOnAllRanks, Has::kOnTheChief}) {
    std::filesystem::remove_all(folder_.path() / "run");
    on_every_rank(2, [&](Communicator& communicator) {
      train_with(communicator, options(), Has::kNone, 3);
      const Counts counts = train_with(communicator, options(), has, 2);
      const bool has_hook = has == Has::kOnAllRanks || communicator.rank() == 0;
      EXPECT_EQ(counts.count, has_hook ? 2U : 0U);
      EXPECT_EQ(counts.note, has_hook ? "the checkpoint lacks counts/steps, counts/sum, so this "
                                        "begins anew"
                                      : "");
    });
  }
}

TEST_F(HookStateTest, AHookThatOnlyTheCheckpointHasIsLeftOutAndNamed) {
  for (const Has has : {Has::kOnAllRanks, Has::kOnTheChief}) {
    std::filesystem::remove_all(folder_.path() / "run");
    on_every_rank(2, [&](Communicator& communicator) {
      train_with(communicator, options(), has, 3);
      const Counts counts = train_with(communicator, options(), Has::kNone, 2);
      if (communicator.rank() != 0) return;
      EXPECT_EQ(counts.note,
                "this training run has no counts/steps, counts/sum, so this is left out");
    });
  }
}

// A hook that rank 0 alone adds needs add_chief_hook(): otherwise a part of what it remembers would
// be in no file.
TEST_F(HookStateTest, AHookThatOneRankAddsForAllIsRefused) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    train_with(communicator, options(), communicator.rank() == 0 ? Has::kOnAllRanks : Has::kNone,
               1);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_THAT(error_of(outcome).what(),
                HasSubstr("lacks counter counts/steps, which rank 0 has"));
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("add_chief_hook()"));
  }
}

// Without this test, a hook's pieces could hide that a whole parameter is missing.
TEST_F(HookStateTest, AParameterThatOnlyTheCheckpointHasIsRefused) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    train_with(communicator, options(), Has::kNone, 1);
    Session session(communicator, options());
    session.restore();
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("model/weights"));
  }
}

}  // namespace
}  // namespace rota
