// A disk that fails, is full or has no locks: each failure is reported, and no half of a checkpoint
// is taken for a whole one. Method: this program replaces system calls, and lets one of them fail.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <rota/checkpoint.h>
#include <rota/communicator.h>
#include <rota/error.h>

#include "checkpoint/evaluations.h"
#include "checkpoint/file_names.h"
#include "checkpoint/folder.h"
#include "checkpoint/owner.h"
#include "checkpoint/reader.h"
#include "checkpoint/sample_checkpoint.h"
#include "checkpoint/toy_run.h"
#include "testing/error_of.h"
#include "training/checkpoints.h"
#include "training/temporary_folder.h"

namespace {

// Which call fails. `countdown` 1: the next one.
struct Fault {
  const char* call = "";
  int countdown = 0;
  int error = 0;
};
Fault fault;
std::atomic<bool> hangs{false};  // Writes that begin now never end.
std::atomic<bool> has_hung{false};
std::function<void()> after_rename;  // Called once.

bool fails(const char* call) {
  if (std::string_view(fault.call) != call || fault.countdown == 0 || --fault.countdown > 0) {
    return false;
  }
  errno = fault.error;
  return true;
}

}  // namespace

extern "C" {
ssize_t write(int file, const void* bytes, size_t count) {
  if (hangs) {
    has_hung = true;
    has_hung.notify_all();
    while (true) ::pause();
  }
  return fails("write") ? -1 : ::syscall(SYS_write, file, bytes, count);
}
ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  return fails("pread") ? -1 : ::syscall(SYS_pread64, file, bytes, count, offset);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  return fails("pwrite") ? -1 : ::syscall(SYS_pwrite64, file, bytes, count, offset);
}
int madvise(void* start, size_t count, int advice) noexcept {
  const bool populates = advice == 22;  // MADV_POPULATE_READ.
  if (populates && fails("populate")) return -1;
  return static_cast<int>(::syscall(SYS_madvise, start, count, advice));
}
int fsync(int file) { return fails("fsync") ? -1 : static_cast<int>(::syscall(SYS_fsync, file)); }
int rename(const char* from, const char* to) noexcept {
  if (fails("rename")) return -1;
  const auto result = static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
  if (after_rename) std::exchange(after_rename, nullptr)();
  return result;
}
int fcntl(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  return fails("fcntl") ? -1 : static_cast<int>(::syscall(SYS_fcntl, file, command, argument));
}
}

namespace rota::checkpoint {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using ::testing::HasSubstr;
using testing::ToyRun;

const RunId kFirstRun = *run_id_from("11111111111111111111111111111111");
const RunId kLaterRun = *run_id_from("22222222222222222222222222222222");

class Faults : public ::testing::Test {
 protected:
  Faults() {
    checkpoints_.create();
    options_.folder = checkpoints_.path();
  }
  ~Faults() override { fault = {}; }

  // Saves a checkpoint as a job does. Returns what failed, or an empty text.
  std::string save(std::uint64_t step) const {
    const auto error = error_of([&] {
      const std::string hidden = checkpoints_.begin({step, kFirstRun, 1});
      SampleWriter writer(hidden);
      writer.manifest.step = step;
      writer.manifest.tensors = {kSampleWeights};
      writer.add(kSampleWeights);
      writer.write({FileKind::kParameters, 0, 1});
      writer.finish();
      checkpoints_.commit({step, kFirstRun, 1});
    });
    fault = {};
    if (!error) return "";
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite) << error->what();
    return error->what();
  }

  // Saves step 1 of a run that keeps one checkpoint, and has no thread that saves. Returns its
  // Checkpointer.
  std::unique_ptr<Checkpointer> save_first() {
    options_.keep = 1;
    options_.asynchronous = false;
    auto checkpointer = std::make_unique<Checkpointer>(alone_, options_, run_.visitor());
    checkpointer->restore();
    checkpointer->finish(1);
    return checkpointer;
  }

  testing::TemporaryFolder temporary_;
  CheckpointFolder checkpoints_{(temporary_.path() / "a").string()};
  Communicator alone_{CommunicatorOptions{}};
  ToyRun run_;
  CheckpointOptions options_;  // Of a run in the folder.
};

// Method: the n-th call fails, for each n that a save reaches.
TEST_F(Faults, InASaveLeaveTheCheckpointBefore) {
  ASSERT_EQ(save(1), "");
  for (const char* call : {"write", "fsync", "rename"}) {
    for (const int error : {EIO, ENOSPC}) {
      int n = 1;
      while (true) {
        fault = {.call = call, .countdown = n, .error = error};
        const std::string told = save(2);
        if (told.empty()) break;
        EXPECT_THAT(told, HasSubstr(error == EIO ? "Input/output error; look at the disk"
                                                 : "No space left on device; free space"));
        const auto steps = checkpoints_.steps();
        ASSERT_FALSE(steps.empty());
        EXPECT_EQ(CheckpointReader(checkpoints_.path_of(steps.front())).manifest().step,
                  steps.front());
        EXPECT_EQ(CheckpointReader(checkpoints_.path_of(1)).manifest().step, 1U);
        ++n;
      }
      EXPECT_GT(n, 1) << call;
      checkpoints_.remove(2);
    }
  }
  checkpoints_.sweep();
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(1));
}

TEST_F(Faults, NameTheFileAndTheBytesBefore) {
  fault = {.call = "write", .countdown = 2, .error = ENOSPC};
  EXPECT_THAT(save(1), HasSubstr("/manifest.json: cannot be written after 0 bytes: No space left"));
  fault = {.call = "fsync", .countdown = 1, .error = EIO};
  EXPECT_THAT(save(1),
              HasSubstr("/parameters-00000-of-00001.safetensors: cannot be synced after "));
}

TEST_F(Faults, OfAReadAreNoDamage) {
  ASSERT_EQ(save(1), "");
  for (const Fault& each : {Fault{"pread", 1, EIO}, Fault{"populate", 1, EFAULT}}) {
    fault = each;
    const auto error = error_of([&] { CheckpointReader reader(checkpoints_.path_of(1)); });
    fault = {};
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kSystem);
    EXPECT_THAT(error->what(), HasSubstr(" at byte 0: Input/output error"));
  }
}

// The newest checkpoint may be whole, so the run must not go on from the one before. The manifest
// can be read here, and a file of tensors cannot.
TEST_F(Faults, OfAReadDoNotTakeARunToAnOlderCheckpoint) {
  {
    Checkpointer checkpointer(alone_, options_, run_.visitor());
    checkpointer.restore();
    checkpointer.finish(1);
    checkpointer.finish(2);
  }
  CheckpointOptions branch = options_;
  branch.folder = temporary_.path() / "branch";
  branch.from = checkpoints_.path_of(2);
  for (const CheckpointOptions& each : {options_, branch}) {
    Checkpointer checkpointer(alone_, each, run_.visitor());
    fault = {.call = "populate", .countdown = 1, .error = EFAULT};
    const auto error = error_of([&] { checkpointer.restore(); });
    EXPECT_EQ(fault.countdown, 0);
    fault = {};
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kSystem) << error->what();
    EXPECT_THAT(error->what(), HasSubstr("a checkpoint cannot be read: "));
    EXPECT_THAT(error->what(), HasSubstr(checkpoints_.path_of(2) + "/"));
    EXPECT_THAT(error->what(), HasSubstr("Input/output error"));
    EXPECT_THAT(error->what(), HasSubstr(each.from.empty() ? ", or move this checkpoint away"
                                                           : ", or resume from another"));
    fault = {.call = "populate", .countdown = 1, .error = EFAULT};
    EXPECT_THROW(checkpointer.restore(), UnreadableFile) << "programs tell it from other failures";
    fault = {};
    EXPECT_EQ(checkpointer.restore().step, 2U) << "the fault is over";
  }
}

// Linux before 5.14 cannot populate a mapping.
TEST_F(Faults, OfAnOldKernelAreNone) {
  ASSERT_EQ(save(1), "");
  fault = {.call = "populate", .countdown = 1, .error = EINVAL};
  EXPECT_EQ(CheckpointReader(checkpoints_.path_of(1)).tensors().size(), 1U);
  EXPECT_EQ(fault.countdown, 0);
}

TEST_F(Faults, WithoutLocksTheLaterJobWins) {
  for (const int error : {ENOLCK, EOPNOTSUPP, ENOSYS}) {
    fault = {.call = "fcntl", .countdown = 1, .error = error};
    const Owner first(checkpoints_.path(), kFirstRun, 1);
    EXPECT_FALSE(first.has_lock());
    first.require_ownership();
    fault = {.call = "fcntl", .countdown = 1, .error = error};
    const Owner later(checkpoints_.path(), kLaterRun, 3, 0ms);
    later.require_ownership();
    const auto taken = error_of([&] { first.require_ownership(); });
    ASSERT_TRUE(taken);
    EXPECT_THAT(taken->what(), HasSubstr("another job has taken the folder over (run 2222"));
  }
}

TEST_F(Faults, OfTheOwnersFileAreTold) {
  fault = {.call = "fsync", .countdown = 1, .error = EIO};
  const auto error = error_of([&] { Owner owner(checkpoints_.path(), kFirstRun, 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error->what(), HasSubstr("/owner: cannot be synced: Input/output error"));
}

// A hook that follows the evaluator may have read the first line. If the file became shorter, the
// hook would begin it again.
TEST_F(Faults, OfEvaluationsLeaveTheFileAsLongAsItWas) {
  const auto evaluation = [](std::uint64_t step) {
    return SavedEvaluation{
        .run = to_text(kFirstRun), .start = 1, .step = step, .samples = 10, .sums = {5}};
  };
  const std::string path = checkpoints_.path() + "/" + kEvaluationsName;
  EvaluationsFile file(checkpoints_.path(), 0ms);
  fault = {.call = "fsync", .countdown = 1, .error = EIO};
  EXPECT_TRUE(error_of([&] { file.add(evaluation(1), {}); }));
  EXPECT_EQ(std::filesystem::file_size(path), encode(evaluation(1), {}).size());
  fault = {.call = "pwrite", .countdown = 1, .error = ENOSPC};
  EXPECT_TRUE(error_of([&] { file.add(evaluation(2), {}); }));
  EXPECT_EQ(fault.countdown, 0);
  EXPECT_EQ(std::filesystem::file_size(path), encode(evaluation(1), {}).size());
  fault = {};
  file.add(evaluation(3), {});
  std::string all;
  for (const std::uint64_t step : {1, 2, 3}) all += encode(evaluation(step), {});
  EXPECT_EQ((std::ostringstream() << std::ifstream(path).rdbuf()).str(), all);
}

// Some file systems that are a view of an object store rename no folder that has files. Each has an
// error of its own. Other errors say nothing of that.
TEST_F(Faults, OfARenameEndTheJobAtItsStart) {
  for (const int reason : {ENOSYS, EOPNOTSUPP, EINVAL, EXDEV, EPERM, EIO, EACCES}) {
    fault = {.call = "rename", .countdown = 1, .error = reason};
    const auto error = error_of([&] { Checkpointer(alone_, options_, run_.visitor()); });
    EXPECT_EQ(fault.countdown, 0);
    fault = {};
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
    const std::string told = error->what();
    EXPECT_THAT(told, HasSubstr(checkpoints_.path() + "/"));
    EXPECT_THAT(told, HasSubstr(std::generic_category().message(reason) + "; "));
    const bool is_other = reason == EIO || reason == EACCES;
    const std::string needs = "rota needs a file system that renames folders; name a ";
    EXPECT_EQ(told.find(needs) == std::string::npos, is_other) << told;
    EXPECT_TRUE(checkpoints_.sweep().empty()) << "nothing is left";
  }
  Checkpointer(alone_, options_, run_.visitor()).restore();
  EXPECT_TRUE(checkpoints_.sweep().empty()) << "nothing is left";
}

bool mounts_small_disk(const std::string& folder) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
}

// Runs in a fork: only that process sees the small file system. Returns 0 if a save there fails as
// it must, and the checkpoint before it stays; 2 if this user, or this container, may not mount.
int save_to_a_full_disk(const std::string& folder) {
  if (!mounts_small_disk(folder)) return errno == EPERM || errno == EACCES ? 2 : 7;
  const CheckpointFolder checkpoints(folder);
  const TensorInfo tensor{"model/w", DataType::kUint8, {150'000}};
  const auto save = [&](std::uint64_t step) {
    SampleWriter writer(checkpoints.begin({step, kFirstRun, 1}));
    writer.manifest.step = step;
    writer.manifest.tensors = {tensor};
    writer.add(tensor);
    writer.write({FileKind::kParameters, 0, 1});
    writer.finish();
    checkpoints.commit({step, kFirstRun, 1});
  };
  save(1);
  const auto error = error_of([&] { save(2); });
  if (!error || error->code() != ErrorCode::kCannotWrite) return 3;
  const std::string told = error->what();
  if (told.find("bytes: No space left on device; free space") == std::string::npos) return 4;
  if (checkpoints.steps() != std::vector<std::uint64_t>{1}) return 5;
  checkpoints.sweep();
  return CheckpointReader(checkpoints.path_of(1)).manifest().step == 1 ? 0 : 6;
}

TEST_F(Faults, OfAFullDiskLeaveTheCheckpointBefore) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(save_to_a_full_disk(checkpoints_.path()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no tmpfs can be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Each removal renames before it deletes: a removal that fails leaves no half of a checkpoint.
TEST_F(Faults, OfARemovalLeaveNoHalf) {
  ASSERT_EQ(save(1), "");
  fault = {.call = "fsync", .countdown = 1, .error = EIO};
  EXPECT_TRUE(error_of([&] { checkpoints_.remove(1); }));
  fault = {};
  EXPECT_TRUE(checkpoints_.steps().empty());
  const std::string hidden = checkpoints_.path() + "/" + removed_name(1);
  EXPECT_TRUE(std::filesystem::exists(hidden + "/manifest.json"));
  checkpoints_.sweep();
  EXPECT_FALSE(std::filesystem::exists(hidden));
}

TEST_F(Faults, OfAWriteThatHangsAreToldAndEndTheRunInTime) {
  options_.save_timeout = 200ms;
  options_.most_failures = 2;
  {
    Checkpointer checkpointer(alone_, options_, run_.visitor());
    checkpointer.restore();
    checkpointer.finish(1);
    ASSERT_TRUE(checkpointer.finished());
    hangs = true;
    ::testing::internal::CaptureStderr();
    checkpointer.save(2);
    EXPECT_FALSE(checkpointer.finished());  // There is nothing to tell yet.
    has_hung.wait(false);
    std::this_thread::sleep_for(300ms);
    EXPECT_FALSE(checkpointer.finished());
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr("rota: the save of step 2 has not ended after "));
    EXPECT_THAT(told, HasSubstr("to " + checkpoints_.path() + " hangs"));
    checkpointer.save(3);  // Is left out, and counts as a failure.
    EXPECT_THAT(checkpointer.finished()->failure, HasSubstr("hangs"));
    const auto again = error_of([&] { checkpointer.save(4); });
    ASSERT_TRUE(again);
    EXPECT_THAT(again->what(), HasSubstr("2 saves in a row"));
    const auto error = error_of([&] { checkpointer.finish(5); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error->what(), HasSubstr("the last checkpoint, of step 5, was not saved: the save "
                                         "of step 2 has not ended"));
  }
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(1));
  hangs = false;  // For other tests of this program: the write above never ends.
}

// The second rename in a save is that of the older checkpoint which is removed.
TEST_F(Faults, OfARemovalAreNoFailureOfTheSave) {
  const auto checkpointer = save_first();
  ::testing::internal::CaptureStderr();
  fault = {.call = "rename", .countdown = 2, .error = EIO};
  checkpointer->finish(2);
  EXPECT_EQ(fault.countdown, 0);
  fault = {};
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("step 2 is saved, but another one could not be set aside or removed: "));
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(2, 1));
  checkpointer->finish(3);
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(3));
}

// The run keeps one checkpoint besides the best. The first rename in a save is that of the new one.
TEST_F(Faults, OfTheSaveOfABetterOneLeaveTheBest) {
  const auto checkpointer = save_first();
  checkpointer->mark_best(1);
  checkpointer->mark_best(2);
  fault = {.call = "rename", .countdown = 1, .error = EIO};
  checkpointer->save(2);
  EXPECT_EQ(fault.countdown, 0);
  fault = {};
  checkpointer->finish(3);
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(3, 1));
  checkpointer->mark_best(4);
  checkpointer->finish(4);
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(4)) << "a better one has been saved";
}

// Step 9 is a checkpoint from which the run did not resume. The second rename in a save sets it
// aside.
TEST_F(Faults, OfASettingAsideLetOldCheckpointsBeRemoved) {
  const auto checkpointer = save_first();
  ASSERT_EQ(save(9), "");
  ::testing::internal::CaptureStderr();
  fault = {.call = "rename", .countdown = 2, .error = EIO};
  checkpointer->finish(2);
  EXPECT_EQ(fault.countdown, 0);
  fault = {};
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("another one could not be set aside or removed: " + checkpoints_.path()));
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(9, 2));
  checkpointer->finish(3);
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(3));
}

// Another job has taken the folder over since the new checkpoint got its name. Both older ones may
// be that job's.
TEST_F(Faults, WithoutLocksAJobThatLosesTheFolderInASaveLeavesOtherCheckpoints) {
  const auto checkpointer = save_first();
  ASSERT_EQ(save(9), "");
  const OwnerName later{
      .run = kLaterRun, .start = 1, .host = "b", .process = 7, .token = kLaterRun};
  after_rename = [&] { std::ofstream(checkpoints_.path() + "/" + kOwnerName) << encode(later); };
  ::testing::internal::CaptureStderr();
  checkpointer->finish(2);
  EXPECT_FALSE(after_rename);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("another job has taken the folder over (run 2222"));
  EXPECT_THAT(checkpoints_.steps(), ::testing::ElementsAre(9, 2, 1));
}

// After a loss of power, a checkpoint that is set aside must not have its old name again.
TEST_F(Faults, OfTheDiskAfterASettingAsideAreTold) {
  ASSERT_EQ(save(1), "");
  ASSERT_EQ(save(2), "");
  fault = {.call = "fsync", .countdown = 1, .error = EIO};
  const auto error = error_of([&] { checkpoints_.set_aside_after(1); });
  EXPECT_EQ(fault.countdown, 0) << "the names are synced";
  fault = {};
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_NO_THROW(checkpoints_.set_aside_after(1));
}

// The save of the last step fails, and is then repeated.
TEST_F(Faults, OfASaveDoNotHideTheNextOne) {
  const auto session = training::make_session(alone_, options_);
  session->begin(run_.visitor());
  fault = {.call = "rename", .countdown = 1, .error = EIO};
  session->end_step(1, {.checkpoint = true});
  session->end(1);
  EXPECT_EQ(fault.countdown, 0);
  fault = {};
  const auto report = session->finished();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 1U);
  EXPECT_EQ(report->failure, "");
  EXPECT_FALSE(session->finished());
}

}  // namespace
}  // namespace rota::checkpoint
