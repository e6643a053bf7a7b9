// Saves and restores of several ranks together. Method: the ranks are threads, and the files are
// real; the state is a few numbers that tell where they come from.
#include <rota/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/ended.h"
#include "checkpoint/reader.h"
#include "checkpoint/saved_run.h"
#include "checkpoint/toy_run.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::ToyRun;

class CheckpointerTest : public testing::SavedRunTest {
 protected:
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
};

INSTANTIATE_TEST_SUITE_P(, CheckpointerTest, ::testing::Values(true, false), testing::how_it_saves);

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

// The best by loss and the best by accuracy may be two checkpoints.
TEST_P(CheckpointerTest, KeepsTheBestOfEachMarker) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions one = options();
    one.keep = 1;
    Checkpointer checkpointer(communicator, one, run.visitor());
    checkpointer.restore();
    for (std::uint64_t step = 1; step <= 6; ++step) {
      if (step == 1 || step == 4) checkpointer.mark_best(step, 0);
      if (step == 2) checkpointer.mark_best(step, 7);
      checkpointer.save(step);
    }
    checkpointer.finish(6);
  });
  EXPECT_THAT(entries(),
              ::testing::ElementsAre("000000000002", "000000000004", "000000000006", "owner"));
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
