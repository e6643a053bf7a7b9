// What a Checkpointer refuses on all ranks alike, with an error that says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include <rota/checkpoint.h>
#include <rota/error.h>

#include "checkpoint/toy_run.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
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

  // Returns the error with which two ranks begin. They must have the same text.
  static Error refusal(const CheckpointOptions& options) {
    const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer(communicator, options, run.visitor()).restore();
    });
    EXPECT_STREQ(error_of(outcomes[1]).what(), error_of(outcomes[0]).what());
    return error_of(outcomes[0]);
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

}  // namespace
}  // namespace rota
