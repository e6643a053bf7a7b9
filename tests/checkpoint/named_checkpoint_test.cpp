// Runs that begin from a checkpoint of another run, which is named. Method: the ranks are threads,
// and the files are real.
#include <rota/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "checkpoint/saved_run.h"
#include "checkpoint/toy_run.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::ToyRun;

class NamedCheckpointTest : public testing::SavedRunTest {
 protected:
  // Saves steps 1 to 3 of a run, and returns the options of another run that begins from step
  // `step` of the first.
  CheckpointOptions branch_from(std::uint64_t step) const {
    save_steps(2, 3);
    CheckpointOptions branch = options();
    branch.folder = folder_.path() / "branch";
    branch.from = path_of(step);
    return branch;
  }

  // Two ranks restore, and save step `step`, whose values are the step. `check` gets what a rank
  // has restored.
  static void begin_and_save(
      const CheckpointOptions& options, std::uint64_t step,
      const std::function<void(const Restored&, const ToyRun&, std::size_t)>& check) {
    on_every_rank(2, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options, run.visitor());
      const Restored restored = checkpointer.restore();
      check(restored, run, communicator.rank());
      run.fill(static_cast<double>(step), communicator.rank());
      checkpointer.finish(step);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(, NamedCheckpointTest, ::testing::Values(true, false),
                         testing::how_it_saves);

TEST_P(NamedCheckpointTest, BeginsFromANamedCheckpointAndThenGoesOnFromItsOwn) {
  const CheckpointOptions branch = branch_from(2);
  begin_and_save(branch, 5, [&](const Restored& restored, const ToyRun& run, std::size_t rank) {
    EXPECT_FALSE(restored.is_fresh);
    EXPECT_EQ(restored.step, 2U);
    EXPECT_EQ(restored.path, branch.from);
    EXPECT_EQ(restored.note, "");
    ToyRun expected;
    expected.fill(2, rank);
    EXPECT_EQ(run, expected);
  });
  begin_and_save(branch, 6, [&](const Restored& restored, const ToyRun&, std::size_t) {
    EXPECT_EQ(restored.step, 5U) << "a start with the same options must lose no step";
    EXPECT_THAT(restored.note, HasSubstr(branch.from.string() + " is not used"));
  });
}

// The run may be asked to end before its first step. Its folder has a checkpoint then, too.
TEST_P(NamedCheckpointTest, SavesTheStepOfANamedCheckpoint) {
  const CheckpointOptions branch = branch_from(2);
  begin_and_save(branch, 2, [](const Restored& restored, const ToyRun&, std::size_t) {
    EXPECT_EQ(restored.step, 2U);
  });
  EXPECT_TRUE(std::filesystem::exists(branch.folder / "000000000002" / "manifest.json"));
}

TEST_P(NamedCheckpointTest, BeginsWithNamedParametersAndThenGoesOnFromItsOwn) {
  CheckpointOptions branch = branch_from(2);
  branch.resume = Resume::kParameters;
  begin_and_save(branch, 5, [&](const Restored& restored, const ToyRun& run, std::size_t rank) {
    EXPECT_TRUE(restored.is_fresh);
    EXPECT_EQ(restored.path, branch.from);
    ToyRun expected;
    expected.fill(2, rank);
    EXPECT_EQ(run.weights, expected.weights);
    EXPECT_EQ(run.moments, ToyRun().moments);
    EXPECT_EQ(run.counter, 0U);
  });
  begin_and_save(branch, 6, [&](const Restored& restored, const ToyRun& run, std::size_t) {
    EXPECT_FALSE(restored.is_fresh);
    EXPECT_EQ(restored.step, 5U) << "a start with the same options must lose no step";
    EXPECT_EQ(run.counter, 5U) << "everything is restored, and not the parameters alone";
  });
}

TEST_P(NamedCheckpointTest, RefusesACheckpointOfItsOwnFolderToBeginFrom) {
  save_steps(2, 3);
  CheckpointOptions named = options();
  for (const char* ending : {"", "/"}) {
    named.from = path_of(2) + ending;
    const Error error = error_of_restore(2, named);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("choose another folder"));
  }
}

TEST_P(NamedCheckpointTest, RefusesToBeginWithParametersThatNobodyNames) {
  CheckpointOptions options_of_parameters = options();
  options_of_parameters.resume = Resume::kParameters;
  const Error error = error_of_restore(2, options_of_parameters);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("`from`"));
}

TEST_P(NamedCheckpointTest, ANamedCheckpointThatIsMissingIsNotFound) {
  const CheckpointOptions branch = branch_from(7);
  const Error error = error_of_restore(2, branch);
  EXPECT_EQ(error.code(), ErrorCode::kNotFound) << error.what();
  EXPECT_THAT(error.what(), HasSubstr(branch.from.string()));
}

}  // namespace
}  // namespace rota
