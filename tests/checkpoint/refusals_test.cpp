// What a Checkpointer refuses on all ranks alike, with an error that says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <rota/checkpoint.h>
#include <rota/error.h>

#include "checkpoint/manifest.h"
#include "checkpoint/toy_run.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::ToyRun;

class CheckpointerRefuses : public ::testing::Test {
 protected:
  CheckpointOptions options() const {
    CheckpointOptions options;
    options.folder = folder_.path() / "run";
    options.owner_wait = std::chrono::seconds(0);
    return options;
  }

  // Returns the error with which two ranks of a run like `begun` begin. They must have the same
  // text.
  static Error refusal(const CheckpointOptions& options, const ToyRun& begun = {}) {
    const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
      ToyRun run = begun;
      Checkpointer(communicator, options, run.visitor()).restore();
    });
    EXPECT_STREQ(error_of(outcomes[1]).what(), error_of(outcomes[0]).what());
    return error_of(outcomes[0]);
  }

  // Two ranks save steps 1 and 2.
  void save_two() const {
    on_every_rank(2, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(), run.visitor());
      checkpointer.restore();
      checkpointer.finish(1);
      checkpointer.finish(2);
    });
  }

  std::string path_of(std::uint64_t step) const {
    return (folder_.path() / "run" / ("00000000000" + std::to_string(step))).string();
  }

  testing::TemporaryFolder folder_;
};

// The other ranks wait for save_timeout while rank 0 waits for the folder.
TEST_F(CheckpointerRefuses, ToWaitForAnotherJobAsLongAsTheRanksWait) {
  CheckpointOptions longer = options();
  longer.save_timeout = std::chrono::seconds(30);
  longer.owner_wait = std::chrono::seconds(30);
  const Error error = refusal(longer);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error.what(), "owner_wait is 30 s: expected less than save_timeout, which is 30 s");
}

// Such a program has named no wait.
TEST_F(CheckpointerRefuses, NoSaveTimeoutThatIsSetAlone) {
  CheckpointOptions alone = options();
  alone.save_timeout = std::chrono::seconds(30);
  alone.owner_wait.reset();
  EXPECT_EQ(alone.owner_wait_or_default(), std::chrono::seconds(15));
  EXPECT_STREQ(refusal(alone).what(), "");
}

// Makes the manifest of a later format, with a right sum.
void make_later(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.resize(text.size() - checkpoint::seal("").size());
  const std::string format = "\"format\": 1,";
  const std::size_t at = text.find(format);
  ASSERT_NE(at, std::string::npos);
  std::ofstream(path) << checkpoint::seal(text.replace(at, format.size(), "\"format\": 2,"));
}

// An older program must not go back to an older checkpoint: the newest one is whole.
TEST_F(CheckpointerRefuses, ACheckpointOfANewerRota) {
  save_two();
  const std::string manifest = path_of(2) + "/manifest.json";
  make_later(manifest);
  const Error error = refusal(options());
  EXPECT_EQ(error.code(), ErrorCode::kBadData);
  EXPECT_EQ(error.what(), manifest +
                              ": was written by a newer rota, in format 2, and this rota reads "
                              "formats up to 1: use the newer rota, or move this checkpoint away, "
                              "and the run goes on from an older one");
  CheckpointOptions branch = options();
  branch.folder = folder_.path() / "branch";
  branch.from = path_of(2);
  const Error of_branch = refusal(branch);
  EXPECT_EQ(of_branch.code(), ErrorCode::kBadData);
  EXPECT_THAT(of_branch.what(), HasSubstr("use the newer rota, or resume from another checkpoint"));
}

TEST_F(CheckpointerRefuses, AnotherSeedAndSaysWhatToDo) {
  save_two();
  ToyRun other;
  other.seed = "7";
  const std::string sides = "it has seed 1, but this training run has seed 7; ";
  const Error of_own = refusal(options(), other);
  EXPECT_EQ(of_own.code(), ErrorCode::kMismatch);
  EXPECT_THAT(of_own.what(), HasSubstr(sides + "choose another folder for this run"));
  CheckpointOptions branch = options();
  branch.folder = folder_.path() / "branch";
  branch.from = path_of(2);
  const Error of_branch = refusal(branch, other);
  EXPECT_EQ(of_branch.code(), ErrorCode::kMismatch);
  EXPECT_THAT(of_branch.what(), HasSubstr(sides + "set resume to 'parameters' to begin with its "
                                                  "parameters alone"));
  other.weights.resize(500);
  EXPECT_THAT(refusal(branch, other).what(), HasSubstr(sides + "name another checkpoint in `from`"))
      << "its parameters do not fit either";
}

// Otherwise the checkpoints of the earlier job would be set aside, and then removed.
TEST_F(CheckpointerRefuses, ToSaveWhereAJobHasNotRestored) {
  save_two();
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions one = options();
    one.keep = 1;
    Checkpointer checkpointer(communicator, one, run.visitor());
    EXPECT_THROW(checkpointer.go_on(), Error);
    EXPECT_THROW(checkpointer.complete(1), Error);
    EXPECT_THROW(checkpointer.save(1), Error);
    checkpointer.finish(3);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("call restore() before the first step"));
  }
  for (const std::uint64_t step : {1, 2}) EXPECT_TRUE(std::filesystem::exists(path_of(step)));
  EXPECT_FALSE(std::filesystem::exists(path_of(3)));
}

// Each rank writes a share of what all ranks have. Without this refusal, the share of a rank that
// lacks a tensor would be missing in each checkpoint.
TEST_F(CheckpointerRefuses, RanksWithDifferentPieces) {
  const auto outcomes = outcomes_of_ranks(3, [&](Communicator& communicator) {
    ToyRun run;
    if (communicator.rank() == 2) run.moments.resize(3);
    Checkpointer(communicator, options(), run.visitor()).restore();
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kMismatch);
    EXPECT_EQ(error_of(outcome).blamed_rank(), 2U);
    EXPECT_THAT(error_of(outcome).what(),
                ::testing::ContainsRegex("the state of rank 2 on host .* has optimizer/moments "
                                         "\\[3\\] of .*, and rank 0 has optimizer/moments "
                                         "\\[17\\] of "));
  }
}

// What a rank visits may change after restore().
TEST_F(CheckpointerRefuses, ASaveOfDifferentPiecesAndKeepsTheCheckpointsBefore) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions one = options();
    one.keep = 1;
    one.asynchronous = false;
    Checkpointer checkpointer(communicator, one, run.visitor());
    checkpointer.restore();
    checkpointer.finish(1);
    if (communicator.rank() == 1) run.moments.resize(3);
    checkpointer.finish(2);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("has other pieces of the state than rank 0"));
  }
  EXPECT_TRUE(std::filesystem::exists(path_of(1)));
  EXPECT_FALSE(std::filesystem::exists(path_of(2)));
}

// The others must not wait for the rank whose visit throws.
TEST_F(CheckpointerRefuses, ToBeginIfTheVisitOfARankThrows) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ToyRun run;
    const bool throws = communicator.rank() == 1;
    Checkpointer checkpointer(communicator, options(), [&](StateVisitor& visitor) {
      if (throws) throw Error(ErrorCode::kNotFound, "no such piece");
      run.visit(visitor);
    });
    checkpointer.restore();
  });
  EXPECT_EQ(error_of(outcomes[0]).code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error_of(outcomes[0]).what(),
              ::testing::ContainsRegex("^rank 1 on host .*: no such piece$"));
  EXPECT_EQ(error_of(outcomes[1]).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rota
