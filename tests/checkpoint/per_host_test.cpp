// Hosts that each keep a copy of a checkpoint. Method: the ranks are threads, and each host is a
// folder; hosts lose their folders, or parts of them, and are swapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <rota/checkpoint.h>

#include "checkpoint/folder.h"
#include "checkpoint/hosts_of_ranks.h"
#include "checkpoint/reader.h"
#include "checkpoint/toy_run.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using checkpoint::CheckpointFolder;
using checkpoint::CheckpointReader;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::HostsOfRanks;
using ::testing::IsEmpty;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::ToyRun;

class PerHost : public ::testing::TestWithParam<bool> {
 protected:
  CheckpointOptions options(const std::string& hosts, std::size_t rank) const {
    const HostsOfRanks placed{folder_.path(), hosts};
    CheckpointOptions options;
    options.folder = placed.folder_of(rank);
    options.storage = placed.storage();
    options.every_seconds = 0;
    options.asynchronous = GetParam();
    options.owner_wait = std::chrono::seconds(0);
    return options;
  }

  using Body = std::function<void(Checkpointer&, const Restored&, const ToyRun&, std::size_t rank)>;

  // Restores, saves the steps after that up to `steps`, and calls `body`.
  void train(const std::string& hosts, std::uint64_t steps, const Body& body = {}) const {
    on_every_rank(hosts.size(), [&](Communicator& communicator) {
      const std::size_t rank = communicator.rank();
      ToyRun run;
      Checkpointer checkpointer(communicator, options(hosts, rank), run.visitor());
      const Restored restored = checkpointer.restore();
      if (body) body(checkpointer, restored, run, rank);
      for (std::uint64_t step = restored.step + 1; step <= steps; ++step) {
        checkpointer.before_send(0);
        checkpointer.before_update(0);
        run.fill(static_cast<double>(step), rank);
        checkpointer.save(step);
      }
      if (restored.step < steps) checkpointer.finish(steps);
    });
  }

  // Each rank restores, and `body` looks.
  void restore(const std::string& hosts, const Body& body) const { train(hosts, 0, body); }

  Error error_of_restore(const std::string& hosts) const {
    const auto outcomes = outcomes_of_ranks(hosts.size(), [&](Communicator& communicator) {
      ToyRun run;
      Checkpointer checkpointer(communicator, options(hosts, communicator.rank()), run.visitor());
      checkpointer.restore();
    });
    for (const auto& outcome : outcomes) {
      EXPECT_STREQ(error_of(outcome).what(), error_of(outcomes[0]).what());
    }
    return error_of(outcomes[0]);
  }

  fs::path folder_of(const std::string& host) const { return folder_.path() / host; }
  fs::path path_of(const std::string& host, std::uint64_t step) const {
    return CheckpointFolder(folder_of(host).string()).path_of(step);
  }
  std::vector<std::uint64_t> steps_of(const std::string& host) const {
    return CheckpointFolder(folder_of(host).string()).steps();
  }

  void damage(const std::string& host, std::uint64_t step) const {
    for (const auto& entry : fs::directory_iterator(path_of(host, step))) {
      if (entry.path().extension() == ".safetensors") fs::resize_file(entry.path(), 100);
    }
  }

  // As if the host had prepared its copy of the newest checkpoint, and not given it its name.
  fs::path hide(const std::string& host, std::uint64_t step) const {
    const auto name = save_of(checkpoint::read_manifest(path_of(host, step).string()));
    fs::path hidden = folder_of(host) / hidden_name(name);
    fs::rename(path_of(host, step), hidden);
    return hidden;
  }

  testing::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(, PerHost, ::testing::Values(true, false), [](const auto& tested) {
  return tested.param ? "asynchronous" : "waiting";
});

ToyRun filled(double value, std::size_t rank) {
  ToyRun run;
  run.fill(value, rank);
  return run;
}

TEST_P(PerHost, RestoresTheNewestWithItsBits) {
  for (const std::string hosts : {"a", "aa", "ab", "aba", "abc", "abbac"}) {
    for (const std::string host : {"a", "b", "c"}) fs::remove_all(folder_of(host));
    train(hosts, 2);
    restore(hosts,
            [&](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t rank) {
              EXPECT_EQ(restored.step, 2U);
              EXPECT_EQ(restored.world_size, hosts.size());
              EXPECT_EQ(restored.path, path_of(hosts.substr(rank, 1), 2).string());
              EXPECT_EQ(restored.note, "");
              EXPECT_EQ(run, filled(2, rank)) << hosts << " " << rank;
            });
  }
}

TEST_P(PerHost, KeepsAWholeCopyOnEachHost) {
  train("aba", 1);
  const CheckpointReader first(path_of("a", 1).string());
  const CheckpointReader second(path_of("b", 1).string());
  EXPECT_THAT(first.manifest().ranks, ElementsAre(0, 2));
  EXPECT_THAT(first.manifest().stateful_ranks, ElementsAre(0, 1, 2));
  EXPECT_THAT(second.manifest().ranks, ElementsAre(1));
  for (const CheckpointReader* copy : {&first, &second}) {
    EXPECT_EQ(copy->manifest().world_size, 3U);
    EXPECT_EQ(copy->tensors().size(), 2U);
  }
  EXPECT_EQ(first.manifest().files.size(), 4U);  // Two writers, and two ranks.
}

TEST_P(PerHost, SendsAHostWithANewDiskACopy) {
  train("aba", 3);
  fs::remove_all(folder_of("b"));
  const auto look = [&](Checkpointer&, const Restored& restored, const ToyRun& run,
                        std::size_t rank) {
    EXPECT_EQ(restored.step, 3U);
    EXPECT_THAT(restored.note, HasSubstr("no host has what rank 1 alone had"));
    ToyRun expected = filled(3, rank);
    if (rank == 1) std::ranges::fill(expected.lost, 0.0F);
    EXPECT_EQ(run, expected) << rank;
  };
  restore("aba", look);
  EXPECT_THAT(steps_of("b"), ElementsAre(3));
  EXPECT_THAT(CheckpointReader(path_of("b", 3).string()).manifest().ranks, IsEmpty());
  restore("aba", look);  // The copy does not make up for what was lost.
  train("aba", 4);
  restore("aba", [](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t rank) {
    EXPECT_EQ(restored.note, "");
    EXPECT_EQ(run, filled(4, rank));
  });
}

// Rank 0, whose host leads otherwise, has the new disk.
TEST_P(PerHost, SendsTheFirstHostACopyToo) {
  train("ab", 2);
  fs::remove_all(folder_of("a"));
  restore("ab", [](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t rank) {
    EXPECT_EQ(restored.step, 2U);
    EXPECT_THAT(restored.note, HasSubstr(" had no checkpoint, so another host has sent it"));
    EXPECT_EQ(run.weights, filled(2, rank).weights);
    EXPECT_EQ(run.lost.front(), rank == 0 ? 0 : 3);
  });
  EXPECT_THAT(steps_of("a"), ElementsAre(2));
}

TEST_P(PerHost, SaysThatACopyCannotBeWritten) {
  train("ab", 1);
  fs::remove_all(folder_of("b"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ToyRun run;
    Checkpointer checkpointer(communicator, options("ab", communicator.rank()), run.visitor());
    communicator.barrier();
    ::setrlimit(RLIMIT_FSIZE, &small);  // Of the whole process.
    checkpointer.restore();
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  const Error error = error_of(outcomes[0]);
  EXPECT_STREQ(error_of(outcomes[1]).what(), error.what());
  EXPECT_EQ(error.code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error.what(), HasSubstr("rank 1 on host "));
  EXPECT_THAT(error.what(), HasSubstr("File too large"));
  EXPECT_THAT(steps_of("b"), IsEmpty());
}

// Method: a link that leads to itself has the name of a checkpoint, so the system refuses to look,
// even for root.
TEST_P(PerHost, SaysOnEveryRankThatACopyCannotBeRead) {
  train("aab", 1);
  fs::create_symlink(path_of("b", 2).filename(), path_of("b", 2));
  const Error error = error_of_restore("aab");
  EXPECT_EQ(error.code(), ErrorCode::kSystem) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("the folder of checkpoints cannot be read: rank 2 on host "));
  EXPECT_THAT(error.what(), HasSubstr(path_of("b", 2).string() + ": "));
  EXPECT_EQ(error.blamed_rank(), 2U);
  on_every_rank(3, [&](Communicator& communicator) {
    ToyRun run;
    const auto own = options("aab", communicator.rank());
    EXPECT_THROW(Checkpointer(communicator, own, run.visitor()), UnreadableFile);
  });
}

TEST_P(PerHost, TakesTheNewestThatAllHostsHaveWhole) {
  train("aab", 3);
  fs::remove_all(path_of("b", 3));
  damage("a", 2);
  restore("aab", [](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t rank) {
    EXPECT_EQ(restored.step, 1U);
    EXPECT_THAT(restored.note, HasSubstr("there is no checkpoint of this step"));
    EXPECT_THAT(restored.note, HasSubstr("a/000000000002/"));
    EXPECT_EQ(run, filled(1, rank));
  });
  train("aab", 4);
  EXPECT_TRUE(fs::exists(folder_of("a") / "000000000003.set-aside-1"));
  EXPECT_THAT(steps_of("a"), ElementsAre(4, 3, 2));
  EXPECT_THAT(steps_of("b"), ElementsAre(4, 3, 2));
}

// Method: the disk of host b is back, with a checkpoint that the run had to pass over.
TEST_P(PerHost, DoesNotReturnToACheckpointThatItHasPassedOver) {
  train("aab", 4);
  const fs::path away = folder_.path() / "away";
  fs::rename(path_of("b", 4), away);
  fs::remove_all(path_of("b", 3));
  train("aab", 3, [](Checkpointer&, const Restored& restored, const ToyRun&, std::size_t) {
    EXPECT_EQ(restored.step, 2U);
  });
  EXPECT_TRUE(fs::exists(folder_of("a") / "000000000004.set-aside-1"));
  EXPECT_THAT(steps_of("a"), ElementsAre(3, 2));
  fs::rename(away, path_of("b", 4));
  restore("aab", [](Checkpointer&, const Restored& restored, const ToyRun&, std::size_t) {
    EXPECT_EQ(restored.step, 3U);
  });
}

TEST_P(PerHost, RefusesWhereAHostHasOnlyDamagedOnes) {
  train("ab", 2);
  damage("b", 1);
  damage("b", 2);
  const Error error = error_of_restore("ab");
  EXPECT_EQ(error.code(), ErrorCode::kBadData);
  EXPECT_THAT(error.what(), HasSubstr("no checkpoint is whole on every host: rank 1 on host "));
  EXPECT_THAT(error.what(), HasSubstr("b/000000000001/"));
}

TEST_P(PerHost, DoesNotMixTwoRuns) {
  train("ab", 1);
  fs::remove_all(folder_of("b"));
  train("b", 1);
  const Error error = error_of_restore("ab");
  EXPECT_EQ(error.code(), ErrorCode::kBadData);
  EXPECT_THAT(error.what(), HasSubstr("the checkpoints of step 1 are not copies"));
}

// Ranks find what they alone had on the host where they were before.
TEST_P(PerHost, RanksMayMoveToOtherHosts) {
  train("aabb", 2);
  for (const std::string hosts : {"bbaa", "abab", "bcca"}) {
    restore(hosts,
            [&](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t rank) {
              EXPECT_EQ(restored.step, 2U);
              EXPECT_THAT(restored.note, Not(HasSubstr("alone had"))) << hosts;
              EXPECT_EQ(run, filled(2, rank)) << hosts << " " << rank;
            });
    fs::remove_all(folder_of("c"));
  }
}

// Rank r of the saving world has lost 1 + r in each place.
TEST_P(PerHost, KeepsTheSumOfFeedbackInAnotherWorld) {
  for (const std::string saving : {"a", "ab", "aab", "abbc"}) {
    for (const std::string restoring : {"a", "ab", "bca", "abcba"}) {
      for (const std::string host : {"a", "b", "c"}) fs::remove_all(folder_of(host));
      train(saving, 1);
      const bool lacks_a_host = restoring == "a" && saving != "a";
      if (lacks_a_host || (restoring == "ab" && saving == "abbc")) continue;
      std::vector<float> lost(restoring.size());
      restore(restoring, [&](Checkpointer&, const Restored&, const ToyRun& run, std::size_t rank) {
        lost[rank] = run.lost.front();
        EXPECT_EQ(run.weights, filled(1, rank).weights);
      });
      const auto count = static_cast<double>(saving.size());
      EXPECT_EQ(std::accumulate(lost.begin(), lost.end(), 0.0), count * (count + 1) / 2)
          << saving << " to " << restoring;
    }
  }
}

TEST_P(PerHost, SaysWhatIsLostWithAHost) {
  train("abb", 1);
  restore("a", [](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t) {
    EXPECT_EQ(restored.step, 1U);
    EXPECT_THAT(restored.note, HasSubstr("no host has what ranks 1, 2 alone had"));
    EXPECT_EQ(run, filled(1, 0));
  });
}

TEST_P(PerHost, KeepsTheSameOnEachHost) {
  train("ab", 1, [](Checkpointer& checkpointer, const Restored&, const ToyRun&, std::size_t rank) {
    if (rank == 0) checkpointer.mark_best(1);
  });
  restore("ab", [](Checkpointer& checkpointer, const Restored&, const ToyRun&, std::size_t rank) {
    if (rank == 0) checkpointer.mark_best(1);
    for (std::uint64_t step = 2; step <= 6; ++step) checkpointer.save(step);
    checkpointer.finish(6);
  });
  for (const std::string host : {"a", "b"}) EXPECT_THAT(steps_of(host), ElementsAre(6, 5, 4, 1));
}

// All hosts had their copies when the job ended, but not all had given them their names.
TEST_P(PerHost, CompletesASaveThatAllHostsHavePrepared) {
  for (const std::string hosts : {"ab", "aba", "cab"}) {  // Host c is new.
    for (const std::string host : {"a", "b", "c"}) fs::remove_all(folder_of(host));
    train("aba", 1);
    hide("b", 1);
    restore(hosts, [&](Checkpointer&, const Restored& restored, const ToyRun&, std::size_t) {
      EXPECT_EQ(restored.step, 1U) << hosts;
    });
    EXPECT_THAT(steps_of("b"), ElementsAre(1));
  }
}

TEST_P(PerHost, DropsASaveThatAHostHasNotPrepared) {
  train("ab", 2);
  const fs::path hidden = hide("b", 2);
  fs::remove(hidden / "manifest.json");
  restore("ab", [](Checkpointer&, const Restored& restored, const ToyRun& run, std::size_t rank) {
    EXPECT_EQ(restored.step, 1U);
    EXPECT_EQ(run, filled(1, rank));
  });
  EXPECT_FALSE(fs::exists(hidden));
}

TEST_P(PerHost, LeavesNothingOfASaveThatFailsOnOneHost) {
  on_every_rank(2, [&](Communicator& communicator) {
    ToyRun run;
    Checkpointer checkpointer(communicator, options("ab", communicator.rank()), run.visitor());
    checkpointer.restore();
    checkpointer.save(1);
    while (!checkpointer.finished()) std::this_thread::yield();
    // The owner's file is damaged on host b, so this job may save there no more.
    communicator.barrier();
    if (communicator.rank() == 1) fs::remove(folder_of("b") / "owner");
    communicator.barrier();
    checkpointer.save(2);
    std::optional<CheckpointReport> report;
    while (!(report = checkpointer.finished())) std::this_thread::yield();
    EXPECT_THAT(report->failure, HasSubstr("rank 1 on host "));
    EXPECT_THAT(report->failure, HasSubstr("the file owner is missing"));
  });
  for (const std::string host : {"a", "b"}) {
    EXPECT_THAT(steps_of(host), ElementsAre(1));
    EXPECT_THAT(CheckpointFolder(folder_of(host).string()).hidden_saves(), IsEmpty());
  }
}

TEST_P(PerHost, NamesTheJobThatHasTheFolderOfOneHost) {
  on_every_rank(1, [&](Communicator& communicator) {
    ToyRun run;
    const Checkpointer first(communicator, options("b", 0), run.visitor());
    const Error error = error_of_restore("ab");
    EXPECT_EQ(error.code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error.what(), HasSubstr("rank 1 on host "));
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(::getpid())));
  });
}

TEST_P(PerHost, SaysOnTheHostOfRank0ThatTheRunHasEnded) {
  const auto complete = [](Checkpointer& checkpointer, const Restored&, const ToyRun&,
                           std::size_t) {
    checkpointer.go_on();
    checkpointer.finish(1);
    checkpointer.complete(1);
  };
  train("ab", 1, complete);
  EXPECT_TRUE(fs::exists(folder_of("a") / "ended.json"));
  EXPECT_FALSE(fs::exists(folder_of("b") / "ended.json"));
}

TEST_P(PerHost, RefusesHostsThatShareTheFolder) {
  fs::create_directory(folder_of("a"));
  fs::create_directory_symlink(folder_of("a"), folder_of("b"));
  const Error error = error_of_restore("ab");
  EXPECT_EQ(error.code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error.what(), HasSubstr("set storage to 'shared' (kShared)"));
}

TEST_P(PerHost, IsARemedyForAFolderThatNotAllHostsSee) {
  const auto outcomes = outcomes_of_ranks(3, [&](Communicator& communicator) {
    ToyRun run;
    CheckpointOptions shared = options("aab", communicator.rank());
    shared.storage = CheckpointStorage::kShared;
    const Checkpointer checkpointer(communicator, shared, run.visitor());
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kNotFound);
    EXPECT_THAT(error_of(outcome).what(),
                ::testing::ContainsRegex("rank 2 on host .* does not see the folder .*/b of "
                                         "rank 0 on host .*'per-host' \\(kPerHost\\)"));
  }
}

TEST(CheckpointStorageName, HasTwo) {
  EXPECT_EQ(checkpoint_storage_named("shared"), CheckpointStorage::kShared);
  EXPECT_EQ(checkpoint_storage_named("per-host"), CheckpointStorage::kPerHost);
  EXPECT_EQ(checkpoint_storage_named("kPerHost"), std::nullopt);
}

}  // namespace
}  // namespace rota
