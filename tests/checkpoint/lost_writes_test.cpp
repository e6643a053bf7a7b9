// After a loss of power, a folder of checkpoints has the old checkpoint or the new one, whole.
// Method: the calls of real saves are recorded. For each call, everything that a disk may then have
// is written to a folder, and restored.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <rota/checkpoint.h>

#include "checkpoint/disk_model.h"
#include "checkpoint/folder.h"
#include "checkpoint/hosts_of_ranks.h"
#include "checkpoint/manifest.h"
#include "checkpoint/reader.h"
#include "checkpoint/restore.h"
#include "checkpoint/toy_run.h"
#include "checkpoint/watched_calls.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::DiskModel;
using testing::FileCall;
using ::testing::HasSubstr;
using testing::HostsOfRanks;
using testing::on_every_rank;
using testing::ToyRun;
using testing::Tree;

// A busy disk may take a second for a sync, and no power is lost here.
constexpr const char* kInMemory = "/dev/shm";

// What must be there after a loss of power.
struct Promise {
  std::uint64_t step = 0;     // This checkpoint or the next, 0 for none.
  std::uint64_t damaged = 0;  // This checkpoint may be damaged, 0 for none.
};

// The promise holds once so many calls have been made.
struct Promised {
  std::size_t calls = 0;
  Promise promise;
};

Tree tree_at(const fs::path& root) {
  Tree tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    std::optional<std::string>& bytes = tree[entry.path().lexically_relative(root).string()];
    if (entry.is_directory()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    bytes.emplace(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return tree;
}

void write(const Tree& tree, const fs::path& root) {
  fs::remove_all(root);
  fs::create_directories(root);
  for (const auto& [path, bytes] : tree) {
    if (bytes) {
      std::ofstream(root / path, std::ios::binary) << *bytes;
    } else {
      fs::create_directory(root / path);
    }
  }
}

std::string names_in(const Tree& tree) {
  std::string names;
  for (const auto& [path, bytes] : tree) {
    names += "\n" + path + (bytes ? " " + std::to_string(bytes->size()) : "");
  }
  return names;
}

bool is_manifest(const std::optional<std::string>& bytes) {
  return bytes && !testing::error_of([&] { parse_manifest("a", *bytes); });
}

// The folder that has this path, if it is a hidden one.
std::optional<std::string> hidden_folder_of(const std::string& path) {
  const std::size_t hidden = path.find("/.");
  if (hidden == std::string::npos) return std::nullopt;
  return path.substr(0, path.find('/', hidden + 1));
}

// A restore deletes hidden folders unread, as crash_test.cpp shows. So trees that differ only in
// such folders are one case. Where several hosts keep copies, hidden folders with a whole manifest
// are not deleted. There are many more trees there, so those that also differ in the names of the
// other hidden folders, or in the file `owner`, are one case: a restore writes that file anew.
Tree reduced(const Tree& tree, bool has_copies) {
  Tree kept;
  for (const auto& [path, bytes] : tree) {
    const auto hidden = hidden_folder_of(path);
    if (!hidden) {
      if (!has_copies || !path.ends_with(kOwnerName)) kept[path] = bytes;
      continue;
    }
    const auto manifest = tree.find(*hidden + "/" + kManifestName);
    const bool is_prepared = has_copies && manifest != tree.end() && is_manifest(manifest->second);
    if (is_prepared || (!has_copies && path == *hidden)) kept[path] = bytes;
  }
  return kept;
}

CheckpointOptions options_of(const HostsOfRanks& placed, std::size_t rank, std::size_t keep) {
  CheckpointOptions options;
  options.folder = placed.folder_of(rank);
  options.storage = placed.storage();
  options.every_seconds = 0;
  options.keep = keep;
  options.asynchronous = false;
  options.owner_wait = std::chrono::seconds(0);
  return options;
}

// The ranks that save. Where hosts keep copies, all of them lose the power at once.
struct Saving {
  std::size_t world_size = 1;
  std::string hosts;  // As in HostsOfRanks.
};

class LostWrites : public ::testing::TestWithParam<Saving> {
 protected:
  LostWrites() {
    fs::create_directory(root_);
    testing::watch_calls({.folder = root_.string(),
                          .before = {},
                          .after = [this](const FileCall& call) { calls_.push_back(call); },
                          .most_bytes = 500});
  }
  ~LostWrites() override { testing::watch_calls({}); }

  // Runs a job that restores step `from` (0: nothing), and saves the steps up to `to`.
  void train(std::uint64_t from, std::uint64_t to) {
    on_every_rank(GetParam().world_size, [&](Communicator& communicator) {
      const std::size_t rank = communicator.rank();
      ToyRun run;
      Checkpointer checkpointer(communicator, options_of(placed_on(root_), rank, keep_),
                                run.visitor());
      EXPECT_EQ(checkpointer.restore().step, from);
      for (std::uint64_t step = from + 1; step <= to; ++step) {
        run.fill(static_cast<double>(step), rank);
        checkpointer.finish(step);
        communicator.barrier();
        if (rank == 0) promise({.step = step});
        communicator.barrier();
      }
    });
  }

  static HostsOfRanks placed_on(const fs::path& root) { return {root / "run", GetParam().hosts}; }

  void promise(const Promise& promise) { promised_.push_back({calls_.size(), promise}); }

  // Flips a bit in a file of step `step`, on the host of rank 0, and gives it to the disk.
  void damage(std::uint64_t step) {
    promise({.step = step - 1, .damaged = step});
    first_ = calls_.size();
    const std::string path =
        CheckpointFolder(placed_on(root_).folder_of(0).string()).path_of(step) + "/manifest.json";
    const int file = ::open(path.c_str(), O_RDWR);
    char byte = 0;
    ASSERT_EQ(::pread(file, &byte, 1, 20), 1);
    byte = static_cast<char>(byte ^ 1);
    ASSERT_EQ(::pwrite(file, &byte, 1, 20), 1);
    ASSERT_EQ(::fsync(file), 0);
    ::close(file);
  }

  // Loses the power before each recorded call from `first_` on, and after the last.
  void lose_power() {
    DiskModel disk(root_.string());
    std::set<Tree> seen;
    std::size_t checked = 0;
    Promise promise;
    auto next = promised_.begin();
    for (std::size_t i = 0; i <= calls_.size(); ++i) {
      for (; next != promised_.end() && next->calls <= i; ++next) {
        promise = next->promise;
        seen.clear();
      }
      for (const Tree& tree : i < first_ ? std::set<Tree>() : disk.after_loss_of_power(i)) {
        const auto [kept, is_new] =
            seen.insert(reduced(tree, placed_on(root_).all_folders().size() > 1));
        if (!is_new) continue;
        ++checked;
        SCOPED_TRACE("before call " + std::to_string(i));
        check(*kept, promise);
        if (HasFailure()) {
          ADD_FAILURE() << "with these files:" << names_in(*kept);
          return;
        }
      }
      if (i < calls_.size()) disk.apply(calls_[i]);
    }
    EXPECT_EQ(disk.now(), tree_at(root_));  // No call was missed.
    EXPECT_GT(checked, 10U);
  }

  void check(const Tree& tree, const Promise& promise) {
    write(tree, lost_);
    const HostsOfRanks placed = placed_on(lost_);
    std::map<fs::path, std::vector<std::uint64_t>> before;
    for (const fs::path& path : placed.all_folders()) {
      const CheckpointFolder folder(path.string());
      before[path] = folder.steps();
      for (const std::uint64_t step : folder.steps()) {
        if (step == promise.damaged && is_damaged(folder.path_of(step))) continue;
        expect_whole(folder.path_of(step), step);
      }
    }
    on_every_rank(GetParam().world_size, [&](Communicator& communicator) {
      const std::size_t rank = communicator.rank();
      ToyRun run;
      const CheckpointOptions options = options_of(placed, rank, keep_);
      Checkpointer checkpointer(communicator, options, run.visitor());
      const Restored restored = checkpointer.restore();
      EXPECT_GE(restored.step, promise.step);
      EXPECT_LE(restored.step, promise.step + 1);
      EXPECT_THAT(restored.note, Not(HasSubstr("alone had")));
      ToyRun expected;
      if (restored.step > 0) expected.fill(static_cast<double>(restored.step), rank);
      EXPECT_EQ(run, expected);
      const CheckpointFolder folder(options.folder.string());
      EXPECT_THAT(folder.steps(), ::testing::IsSupersetOf(before.at(options.folder)));
      EXPECT_TRUE(folder.hidden_saves().empty());
      communicator.barrier();
      checkpointer.finish(restored.step + 1);
      EXPECT_EQ(read_manifest(folder.path_of(restored.step + 1)).step, restored.step + 1);
    });
    for (const fs::path& path : placed.all_folders()) {
      EXPECT_TRUE(CheckpointFolder(path.string()).sweep().empty());
    }
  }

  static bool is_damaged(const std::string& path) {
    const auto error = testing::error_of([&] { const CheckpointReader checkpoint(path); });
    return error && error->code() == ErrorCode::kBadData;
  }

  void expect_whole(const std::string& path, std::uint64_t step) const {
    const CheckpointReader checkpoint(path);
    const std::size_t world_size = GetParam().world_size;
    for (const auto& [rank, own] : checkpoint.ranks()) {
      ToyRun run;
      restore(checkpoint, run.visitor(), {.rank = rank, .world_size = world_size});
      ToyRun expected;
      expected.fill(static_cast<double>(step), rank);
      EXPECT_EQ(run, expected) << path;
    }
  }

  testing::TemporaryFolder temporary_{kInMemory};
  const fs::path root_ = temporary_.path() / "disk";
  const fs::path lost_ = temporary_.path() / "lost";
  std::size_t keep_ = 1;
  std::vector<FileCall> calls_;
  std::size_t first_ = 0;
  std::vector<Promised> promised_;
};

INSTANTIATE_TEST_SUITE_P(InAWorldOf, LostWrites,
                         ::testing::Values(Saving{1, ""}, Saving{3, ""}, Saving{1, "a"},
                                           Saving{3, "aab"}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.world_size) +
                                  (tested.param.hosts.empty() ? "" : "_on_" + tested.param.hosts);
                         });

TEST_P(LostWrites, LeaveTheOldOrTheNew) {
  train(0, 2);
  train(2, 3);
  lose_power();
}

// The run comes again to the step of a checkpoint that is damaged, and sets it aside.
TEST_P(LostWrites, LeaveTheOldOrTheNewWhereADamagedOneWas) {
  keep_ = 2;
  train(0, 3);
  damage(3);
  train(2, 3);
  lose_power();
}

}  // namespace
}  // namespace rota::checkpoint
