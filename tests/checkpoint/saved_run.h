// A training run that has saved checkpoints. The ranks are threads, and the files are real; the
// state is a few numbers that tell where they come from.
#pragma once
#include <rota/checkpoint.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "checkpoint/toy_run.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota::testing {

// A run in a folder. The parameter says if it saves in the background.
class SavedRunTest : public ::testing::TestWithParam<bool> {
 protected:
  CheckpointOptions options() const {
    CheckpointOptions options;
    options.folder = folder_.path() / "run";
    options.every_seconds = 0;
    options.asynchronous = GetParam();
    options.owner_wait = std::chrono::seconds(0);
    return options;
  }

  // Saves steps 1 to `steps` of a run whose values are the step.
  void save_steps(std::size_t world_size, std::uint64_t steps) const {
    on_every_rank(world_size, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(), run.visitor());
      checkpointer.restore();
      for (std::uint64_t step = 1; step <= steps; ++step) {
        checkpointer.before_send(0);
        checkpointer.before_update(0);
        run.fill(static_cast<double>(step), communicator.rank());
        checkpointer.save(step);
      }
      checkpointer.finish(steps);
    });
  }

  std::string path_of(std::uint64_t step) const {
    const std::string digits = std::to_string(step);
    return (folder_.path() / "run" / (std::string(12 - digits.size(), '0') + digits)).string();
  }

  Error error_of_restore(std::size_t world_size, const CheckpointOptions& options,
                         const std::string& seed = "1") const {
    const auto outcomes = outcomes_of_ranks(world_size, [&](Communicator& communicator) {
      ToyRun run;
      run.seed = seed;
      const ToyRun before = run;
      Checkpointer checkpointer(communicator, options, run.visitor());
      try {
        checkpointer.restore();
      } catch (...) {
        EXPECT_EQ(run, before);
        throw;
      }
    });
    for (const auto& outcome : outcomes) {
      EXPECT_STREQ(error_of(outcome).what(), error_of(outcomes[0]).what());
    }
    return error_of(outcomes[0]);
  }

  TemporaryFolder folder_;
};

// Returns the name of a parameter of SavedRunTest.
inline std::string how_it_saves(const ::testing::TestParamInfo<bool>& tested) {
  return tested.param ? "asynchronous" : "waiting";
}

}  // namespace rota::testing
