// Saves and restores of several ranks together. Method: the ranks are threads, and the files are
// real; the state is a few numbers that tell where they come from.
#include <rota/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/ended.h"
#include "checkpoint/reader.h"
#include "checkpoint/toy_run.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::TemporaryFolder;
using testing::ToyRun;

class CheckpointerTest : public ::testing::TestWithParam<bool> {
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

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "run")) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  // Flips a bit in the middle of a file of step `step`.
  void damage(std::uint64_t step, const std::string& part) const {
    for (const auto& entry : fs::directory_iterator(path_of(step))) {
      if (!entry.path().filename().string().starts_with(part)) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const auto middle = static_cast<std::streamoff>(fs::file_size(entry.path()) / 2);
      file.seekg(middle);
      const auto byte = static_cast<char>(file.get() ^ 1);
      file.seekp(middle);
      file.put(byte);
      return;
    }
    FAIL() << "no file " << part;
  }

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

INSTANTIATE_TEST_SUITE_P(, CheckpointerTest, ::testing::Values(true, false),
                         [](const auto& tested) {
                           return tested.param ? "asynchronous" : "waiting";
                         });

TEST_P(CheckpointerTest, BeginsAnewInAnEmptyFolder) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    Checkpointer checkpointer(communicator, options(), run.visitor());
    const Restored restored = checkpointer.restore();
    EXPECT_TRUE(restored.is_fresh);
    EXPECT_EQ(restored.path, "");
    EXPECT_EQ(run, ToyRun());
  });
}

TEST_P(CheckpointerTest, RestoresTheNewestWithItsBits) {
  for (const std::size_t world_size : {1, 2, 3, 5}) {
    fs::remove_all(folder_.path() / "run");
    save_steps(world_size, 2);
    on_every_rank(world_size, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(), run.visitor());
      const Restored restored = checkpointer.restore();
      EXPECT_FALSE(restored.is_fresh);
      EXPECT_EQ(restored.step, 2U);
      EXPECT_EQ(restored.world_size, world_size);
      EXPECT_EQ(restored.path, path_of(2));
      EXPECT_EQ(restored.note, "");
      ToyRun expected;
      expected.fill(2, communicator.rank());
      EXPECT_EQ(run, expected);
    });
  }
}

TEST_P(CheckpointerTest, KeepsTheNewestAndTheBest) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions few = options();
    few.keep = 2;
    Checkpointer checkpointer(communicator, few, run.visitor());
    checkpointer.restore();
    for (std::uint64_t step = 1; step <= 5; ++step) {
      if (step == 2) checkpointer.mark_best(step);
      checkpointer.save(step);
    }
    checkpointer.finish(5);
  });
  EXPECT_THAT(entries(),
              ::testing::ElementsAre("000000000002", "000000000004", "000000000005", "owner"));
}

// An evaluator may find out that a checkpoint is the best when it was removed already.
TEST_P(CheckpointerTest, KeepsTheBestIfOneIsMarkedThatIsGone) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions one = options();
    one.keep = 1;
    Checkpointer checkpointer(communicator, one, run.visitor());
    checkpointer.restore();
    checkpointer.mark_best(1);
    for (const std::uint64_t step : {1, 2, 3}) checkpointer.save(step);
    checkpointer.mark_best(2);
    checkpointer.save(4);
    checkpointer.finish(5);
  });
  EXPECT_THAT(entries(), ::testing::ElementsAre("000000000001", "000000000005", "owner"));
}

// Two jobs that go on from the same checkpoint are two starts of the run: the second one finds the
// checkpoint of the first damaged.
TEST_P(CheckpointerTest, AStartIsLaterThanThoseOfAllCheckpointsOfTheRun) {
  const auto save = [&](std::uint64_t resumed_step, std::uint64_t step) {
    on_every_rank(2, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(), run.visitor());
      EXPECT_EQ(checkpointer.restore().step, resumed_step);
      checkpointer.finish(step);
    });
    return checkpoint::read_manifest(path_of(step)).start;
  };
  EXPECT_EQ(save(0, 1), 1U);
  EXPECT_EQ(save(1, 2), 2U);
  damage(2, "parameters");
  EXPECT_EQ(save(1, 3), 3U);
}

TEST_P(CheckpointerTest, SaysWhetherTheRunHasEnded) {
  const std::string folder = (folder_.path() / "run").string();
  for (const std::uint64_t start : {1, 2}) {
    on_every_rank(2, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(), run.visitor());
      const Restored restored = checkpointer.restore();
      EXPECT_EQ(restored.run.size(), 32U);
      checkpointer.go_on();
      communicator.barrier();
      EXPECT_EQ(checkpoint::read_ended(folder), std::nullopt);
      checkpointer.finish(10 * start);
      checkpointer.complete(10 * start);
      communicator.barrier();
      const auto ended = checkpoint::read_ended(folder);
      ASSERT_TRUE(ended);
      EXPECT_EQ(to_text(ended->run), restored.run);
      EXPECT_EQ(ended->start, start);
      EXPECT_EQ(ended->step, 10 * start);
      communicator.barrier();
    });
  }
}

TEST_P(CheckpointerTest, ARunThatCannotSayThatItHasEndedFailsOnEveryRank) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ToyRun run;
    Checkpointer checkpointer(communicator, options(), run.visitor());
    checkpointer.restore();
    checkpointer.finish(1);
    if (communicator.rank() == 0) fs::create_directories(folder_.path() / "run/ended.json/x");
    checkpointer.complete(1);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("ended.json"));
  }
}

TEST_P(CheckpointerTest, ReportsEachSaveOnce) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    Checkpointer checkpointer(communicator, options(), run.visitor());
    checkpointer.restore();
    checkpointer.save(1);
    checkpointer.save(2);
    checkpointer.finish(3);
    for (const std::uint64_t step : {1, 2, 3}) {
      const auto report = checkpointer.finished();
      ASSERT_TRUE(report);
      EXPECT_EQ(report->step, step);
      EXPECT_EQ(report->path, path_of(step));
      EXPECT_GT(report->bytes, 4000U);
      EXPECT_EQ(report->failure, "");
    }
    EXPECT_FALSE(checkpointer.finished());
  });
}

TEST_P(CheckpointerTest, PassesOverADamagedOneOnAllRanksAlike) {
  for (const char* part : {"parameters", "optimizer", "rank", "manifest"}) {
    fs::remove_all(folder_.path() / "run");
    save_steps(2, 3);
    damage(3, part);
    on_every_rank(2, [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(), run.visitor());
      const Restored restored = checkpointer.restore();
      EXPECT_EQ(restored.step, 2U) << part;
      EXPECT_THAT(restored.note, HasSubstr(path_of(3) + "/" + part));
      ToyRun expected;
      expected.fill(2, communicator.rank());
      EXPECT_EQ(run, expected);
      checkpointer.save(3);  // The run comes to this step again.
      checkpointer.finish(3);
    });
    EXPECT_THAT(entries(), ::testing::Contains("000000000003.set-aside-1")) << part;
  }
}

// Visits one tensor, of 3 MiB.
StateVisit visit_large(std::vector<float>& weights) {
  weights.resize(std::size_t{3} << 18);
  return [&weights](StateVisitor& visitor) {
    const std::size_t count = weights.size();
    visitor.visit_tensor({.name = "model/weights"}, std::span(&count, 1), weights);
  };
}

// Method: the damage is in the second MiB of a file, which only rank 1 of the two ranks checks.
TEST_P(CheckpointerTest, PassesOverDamageThatOneRankFinds) {
  on_every_rank(2, [&](Communicator& communicator) {
    std::vector<float> weights;
    Checkpointer checkpointer(communicator, options(), visit_large(weights));
    checkpointer.restore();
    for (const std::uint64_t step : {1, 2}) {
      weights.back() = static_cast<float>(step);
      checkpointer.finish(step);
    }
  });
  damage(2, "parameters");
  on_every_rank(2, [&](Communicator& communicator) {
    std::vector<float> weights;
    Checkpointer checkpointer(communicator, options(), visit_large(weights));
    const Restored restored = checkpointer.restore();
    EXPECT_EQ(restored.step, 1U);
    EXPECT_THAT(restored.note, HasSubstr("is damaged in MiB 1 "));
    EXPECT_EQ(weights.back(), 1);
  });
}

TEST_P(CheckpointerTest, RefusesWhereAllAreDamaged) {
  save_steps(2, 2);
  damage(1, "parameters");
  damage(2, "rank");
  const Error error = error_of_restore(2, options());
  EXPECT_EQ(error.code(), ErrorCode::kBadData);
  EXPECT_THAT(error.what(), HasSubstr(path_of(1)));
  EXPECT_THAT(error.what(), HasSubstr(path_of(2)));
}

TEST_P(CheckpointerTest, RefusesAnotherSeedAndSaysBothSides) {
  save_steps(2, 1);
  const Error error = error_of_restore(2, options(), "7");
  EXPECT_EQ(error.code(), ErrorCode::kMismatch);
  EXPECT_THAT(error.what(), HasSubstr("seed 1"));
  EXPECT_THAT(error.what(), HasSubstr("seed 7"));
}

TEST_P(CheckpointerTest, SaysWhatMayDiffer) {
  save_steps(1, 1);
  on_every_rank(1, [&](Communicator& communicator) {
    ToyRun run;
    run.rate = "0.2";
    Checkpointer checkpointer(communicator, options(), run.visitor());
    EXPECT_EQ(checkpointer.restore().note, "learning rate was 0.1 and is 0.2");
  });
}

TEST_P(CheckpointerTest, ObeysHowItIsToResume) {
  CheckpointOptions how = options();
  how.resume = Resume::kRequired;
  EXPECT_EQ(error_of_restore(2, how).code(), ErrorCode::kNotFound);
  save_steps(2, 1);
  how.resume = Resume::kNever;
  EXPECT_EQ(error_of_restore(2, how).code(), ErrorCode::kInvalidArgument);
}

TEST_P(CheckpointerTest, BeginsFromANamedCheckpointAndThenGoesOnFromItsOwn) {
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
TEST_P(CheckpointerTest, SavesTheStepOfANamedCheckpoint) {
  const CheckpointOptions branch = branch_from(2);
  begin_and_save(branch, 2, [](const Restored& restored, const ToyRun&, std::size_t) {
    EXPECT_EQ(restored.step, 2U);
  });
  EXPECT_TRUE(fs::exists(branch.folder / "000000000002" / "manifest.json"));
}

TEST_P(CheckpointerTest, BeginsWithNamedParametersAndThenGoesOnFromItsOwn) {
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

TEST_P(CheckpointerTest, RefusesACheckpointOfItsOwnFolderToBeginFrom) {
  save_steps(2, 3);
  CheckpointOptions named = options();
  for (const char* ending : {"", "/"}) {
    named.from = path_of(2) + ending;
    const Error error = error_of_restore(2, named);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("choose another folder"));
  }
}

TEST_P(CheckpointerTest, RefusesToBeginWithParametersThatNobodyNames) {
  CheckpointOptions options_of_parameters = options();
  options_of_parameters.resume = Resume::kParameters;
  const Error error = error_of_restore(2, options_of_parameters);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("`from`"));
}

// Otherwise a folder "s3:" would be made.
TEST_P(CheckpointerTest, RefusesTheAddressOfAnObjectStore) {
  CheckpointOptions of_store = options();
  of_store.folder = "s3://bucket/run";
  CheckpointOptions from_store = options();
  from_store.from = "gs://bucket/run/000000000001";
  for (const CheckpointOptions& each : {of_store, from_store}) {
    const Error error = error_of_restore(2, each);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("://bucket/run"));
    EXPECT_THAT(error.what(), HasSubstr("volume"));
  }
  EXPECT_FALSE(fs::exists("s3:"));
}

TEST_P(CheckpointerTest, ANamedCheckpointThatIsMissingIsNotFound) {
  const CheckpointOptions branch = branch_from(7);
  const Error error = error_of_restore(2, branch);
  EXPECT_EQ(error.code(), ErrorCode::kNotFound) << error.what();
  EXPECT_THAT(error.what(), HasSubstr(branch.from.string()));
}

// Rank r of the saving world has lost 1 + r in each place.
TEST_P(CheckpointerTest, KeepsTheSumOfFeedbackInAnotherWorld) {
  for (const std::size_t saving : {1, 2, 3, 4, 5}) {
    for (const std::size_t restoring : {1, 2, 3, 4, 5}) {
      fs::remove_all(folder_.path() / "run");
      save_steps(saving, 1);
      std::vector<float> lost(restoring);
      on_every_rank(restoring, [&](Communicator& communicator) {
        ToyRun run;
        Checkpointer checkpointer(communicator, options(), run.visitor());
        checkpointer.restore();
        lost[communicator.rank()] = run.lost.front();
        ToyRun expected;
        expected.fill(1, communicator.rank());
        EXPECT_EQ(run.weights, expected.weights);
        EXPECT_EQ(run.moments, expected.moments);
      });
      const double expected = static_cast<double>(saving * (saving + 1)) / 2;
      EXPECT_EQ(std::accumulate(lost.begin(), lost.end(), 0.0), expected)
          << saving << " to " << restoring;
    }
  }
}

TEST_P(CheckpointerTest, ASecondJobIsToldWhoHasTheFolder) {
  on_every_rank(1, [&](Communicator& communicator) {
    ToyRun run;
    const Checkpointer first(communicator, options(), run.visitor());
    const Error error = error_of_restore(2, options());
    EXPECT_EQ(error.code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(::getpid())));
  });
}

// Rank 1 leaves after step 1. So the save of step 2 throws, and so does each further call.
TEST_P(CheckpointerTest, ASaveThatThrowsIsNoCheckpoint) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions hasty = options();
    hasty.save_timeout = std::chrono::seconds(5);
    Checkpointer checkpointer(communicator, hasty, run.visitor());
    checkpointer.restore();
    checkpointer.finish(1);
    if (communicator.rank() == 1) return;
    for (int call = 0; call < 2; ++call) EXPECT_THROW(checkpointer.finish(2), Error);
  });
  EXPECT_TRUE(fs::exists(path_of(1)));
  EXPECT_FALSE(fs::exists(path_of(2)));
}

TEST_P(CheckpointerTest, GoesOnAfterASaveThatFailsButNotForEver) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions twice = options();
    twice.most_failures = 2;
    Checkpointer checkpointer(communicator, twice, run.visitor());
    checkpointer.restore();
    checkpointer.save(1);
    while (!checkpointer.finished()) std::this_thread::yield();
    communicator.barrier();
    // The hidden folder cannot replace a folder of this name that is not empty.
    if (communicator.rank() == 0) {
      fs::remove_all(folder_.path() / "run");
      std::ofstream(folder_.path() / "run") << "a file";
    }
    communicator.barrier();
    checkpointer.save(2);
    std::optional<CheckpointReport> report;
    while (!(report = checkpointer.finished())) std::this_thread::yield();
    EXPECT_THAT(report->failure, HasSubstr((folder_.path() / "run").string()));
    communicator.barrier();
    checkpointer.save(3);
    checkpointer.finish(3);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("2 saves in a row"));
  }
}

}  // namespace
}  // namespace rota
