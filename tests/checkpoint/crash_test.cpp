// If a job is killed in a save or in a restore, it leaves the old checkpoint or the new one, whole,
// and the next job goes on from that checkpoint. If a write hangs, the job ends. If two jobs start
// on one folder, only one of them trains. Method: real ranks, of which one is killed at each call
// to the file system in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/hosts_of_ranks.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using testing::Process;
using testing::Result;

// A busy disk may take a second for a sync, and no power is lost here.
constexpr const char* kInMemory = "/dev/shm";

constexpr int kKilled = 128 + 9;
constexpr std::uint64_t kNone = UINT64_MAX;

testing::Command job(std::size_t world_size, const fs::path& folder, const std::string& mode,
                     std::size_t rank = 0, std::size_t call = 0, const std::string& hosts = "") {
  std::vector<std::string> words = {"--oversubscribe",
                                    "-np",
                                    std::to_string(world_size),
                                    "--deadline",
                                    "20",
                                    "--timeout",
                                    "60",
                                    testing::test_path("checkpoint_crash_ranks"),
                                    folder.string(),
                                    mode,
                                    std::to_string(rank),
                                    std::to_string(call)};
  if (!hosts.empty()) words.push_back(hosts);
  return testing::rotarun(words);
}

// Returns the step that every rank says it has restored.
std::uint64_t restored_by(const Result& result, std::size_t world_size) {
  std::istringstream words(result.out);
  std::string word;
  std::uint64_t step = kNone;
  std::uint64_t first = kNone;
  std::size_t count = 0;
  for (; words >> word >> step; ++count) {
    if (count == 0) first = step;
    EXPECT_EQ(step, first) << result.out;
  }
  EXPECT_EQ(count, world_size) << result.out << result.err;
  return first;
}

std::vector<std::string> hidden_in(const testing::HostsOfRanks& placed) {
  std::vector<std::string> names;
  for (const fs::path& folder : placed.all_folders()) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.starts_with('.')) names.push_back(name);
    }
  }
  return names;
}

struct Victim {
  std::size_t world_size = 1;
  std::size_t rank = 0;
  std::string hosts;  // As in HostsOfRanks.
};

class Crash : public ::testing::TestWithParam<Victim> {
 protected:
  Result run(const std::string& mode, std::size_t call) const {
    Result result = testing::run(job(world_size_, folder_, mode, rank_, call, placed_.hosts));
    EXPECT_TRUE(result.was_in_time);
    return result;
  }

  const std::size_t world_size_ = GetParam().world_size;
  const std::size_t rank_ = GetParam().rank;
  testing::TemporaryFolder temporary_{kInMemory};
  const fs::path folder_ = temporary_.path() / "run";
  const testing::HostsOfRanks placed_{folder_, GetParam().hosts};
};

INSTANTIATE_TEST_SUITE_P(OfRank, Crash,
                         ::testing::Values(Victim{1, 0, ""}, Victim{3, 0, ""}, Victim{3, 1, ""},
                                           Victim{3, 2, ""}, Victim{1, 0, "a"}, Victim{3, 0, "aab"},
                                           Victim{3, 1, "aab"}, Victim{3, 2, "aab"},
                                           Victim{3, 1, "abc"}),
                         [](const auto& tested) {
                           const Victim& victim = tested.param;
                           return std::to_string(victim.rank) + "_of_" +
                                  std::to_string(victim.world_size) +
                                  (victim.hosts.empty() ? "" : "_on_" + victim.hosts);
                         });

// Each job restores what the job before has left, and saves one checkpoint whole. Then it saves a
// second one, and a rank is killed before a certain call. The last job ends before that call, so no
// rank is killed.
TEST_P(Crash, InASaveLeavesTheOldOrTheNew) {
  std::uint64_t old_step = 0;
  std::size_t old_count = 0;
  std::size_t new_count = 0;
  std::size_t hidden_count = 0;
  std::size_t call = 1;
  for (;; ++call) {
    const Result result = run("save", call);
    const std::uint64_t step = restored_by(result, world_size_);
    EXPECT_THAT(step, AnyOf(Eq(old_step), Eq(call == 1 ? 0 : old_step + 1))) << "call " << call;
    if (call > 1) ++(step == old_step ? old_count : new_count);
    old_step = step + 1;
    if (result.exit_code != kKilled) {
      EXPECT_EQ(result.exit_code, 0) << result.err;
      break;
    }
    if (!hidden_in(placed_).empty()) ++hidden_count;
    ASSERT_LT(call, 200U);
  }
  EXPECT_THAT(hidden_in(placed_), ::testing::IsEmpty());
  EXPECT_GT(hidden_count, 0U);
  EXPECT_GT(old_count, 0U);
  // All that other ranks do comes before the first rename.
  EXPECT_EQ(new_count > 0, placed_.is_chief(rank_));
}

// Where nobody has a checkpoint before. The next job then begins anew, or has all of the new one:
// also what each rank alone has.
TEST_P(Crash, InTheFirstSaveLeavesNothingOrTheNew) {
  std::size_t call = 1;
  for (;; ++call) {
    fs::remove_all(folder_);
    const Result result = run("first", call);
    EXPECT_EQ(restored_by(result, world_size_), 0U);
    const Result next = run("restore", 0);
    EXPECT_EQ(next.exit_code, 0) << next.err;
    const std::uint64_t step = restored_by(next, world_size_);
    if (result.exit_code != kKilled) {
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(step, 1U);
      break;
    }
    EXPECT_THAT(step, AnyOf(Eq(0U), Eq(1U))) << "call " << call;
    ASSERT_LT(call, 200U);
  }
  EXPECT_GT(call, 3U);
}

// Method: each job finds what an interrupted save and an interrupted removal have left.
TEST_P(Crash, InARestoreChangesNoCheckpoint) {
  ASSERT_EQ(run("save", 0).exit_code, 0);
  std::size_t call = 1;
  while (true) {
    for (const fs::path& folder : placed_.all_folders()) {
      for (const std::string& hidden :
           {".000000000003." + std::string(32, 'a') + ".1", std::string(".000000000001.removed")}) {
        fs::remove_all(folder / hidden);
        fs::copy(folder / "000000000002", folder / hidden);
      }
    }
    const Result result = run("restore", call);
    if (result.exit_code != kKilled) {
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(restored_by(result, world_size_), 2U);
      break;
    }
    EXPECT_EQ(result.out, "");
    ASSERT_LT(++call, 200U);
  }
  EXPECT_GT(call, 3U);
  EXPECT_THAT(hidden_in(placed_), ::testing::IsEmpty());
}

// Method: rank 1 never comes back from the first call of its second save, as if the server of a
// network file system were gone. Rank 0 waits for what rank 1 writes.
TEST(AHangingWrite, OfOneRankEndsTheRunAndLeavesTheOldCheckpoint) {
  const testing::TemporaryFolder temporary(kInMemory);
  const fs::path folder = temporary.path() / "run";
  const Result result = testing::run(job(2, folder, "hang", 1, 1));
  EXPECT_TRUE(result.was_in_time);
  EXPECT_EQ(result.exit_code, 73) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the save of step 2 has not ended after "));
  EXPECT_THAT(result.err, HasSubstr("a write of rank 1 to " + folder.string() + " hangs"));
  EXPECT_FALSE(fs::exists(folder / "000000000002"));
  const Result next = testing::run(job(2, folder, "restore"));
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(restored_by(next, 2), 1U);
}

// Returns the process that ends first.
Process& first_to_end(Process& one, Process& other) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < limit) {
    if (testing::state_of(one.pid()) == 'Z') return one;
    if (testing::state_of(other.pid()) == 'Z') return other;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return one;
}

// Returns the owner of the folder as its job names itself: "process 4711 on host a".
std::string owner_of(const fs::path& folder) {
  std::ifstream file(folder / "owner");
  std::string number;
  std::string host;
  for (std::string word; file >> word;) {
    if (word == "host") file >> host;
    if (word == "process") file >> number;
  }
  return "process " + number + " on host " + host;
}

// Method: many pairs at once, so that the two jobs of a pair start in every order.
TEST(TwoJobs, InOneFolderAreOneThatTrains) {
  constexpr std::size_t kPairs = 5;
  for (int round = 0; round < 4; ++round) {
    const testing::TemporaryFolder temporary(kInMemory);
    std::vector<std::unique_ptr<Process>> jobs;
    for (std::size_t i = 0; i < 2 * kPairs; ++i) {
      const fs::path folder = temporary.path() / std::to_string(i / 2);
      jobs.push_back(std::make_unique<Process>(job(1, folder, "hold")));
    }
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const fs::path folder = temporary.path() / std::to_string(pair);
      Process& one = *jobs[2 * pair];
      Process& other = *jobs[2 * pair + 1];
      Process& loser = first_to_end(one, other);
      Process& winner = &loser == &one ? other : one;
      const Result refused = loser.wait();
      EXPECT_EQ(refused.exit_code, 73) << refused.err;
      EXPECT_EQ(refused.out, "");
      EXPECT_THAT(refused.err, HasSubstr("another job saves its checkpoints there"));
      EXPECT_THAT(refused.err, HasSubstr(owner_of(folder)));
      std::ofstream(folder.string() + ".end") << "now";
      const Result trained = winner.wait();
      EXPECT_EQ(trained.exit_code, 0) << trained.err;
      EXPECT_EQ(restored_by(trained, 1), 0U);
      EXPECT_TRUE(fs::exists(folder / "000000000002/manifest.json"));
    }
  }
}

}  // namespace
}  // namespace rota
