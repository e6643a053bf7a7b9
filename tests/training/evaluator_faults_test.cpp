// An evaluator where files cannot be read or written: it tries again, it goes on, or it says what
// is lost. Method: files may not grow, or this program replaces system calls, and lets those of one
// path fail.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <rota/end_signal.h>
#include <rota/error.h>
#include <rota/evaluator.h>

#include "exports/full_disk.h"
#include "training/evaluated_run.h"

namespace {

// The calls with this path fail, `left` times.
struct PathFault {
  std::string_view path;
  int left = 0;
  int failed = 0;
};
constinit PathFault stat_fault;
constinit PathFault open_fault;

// By so many seconds, the clock of the file system is behind the clock of this host.
constinit std::int64_t seconds_behind = 0;

bool is_hit(PathFault& fault, const char* path) {
  if (fault.left == 0 || fault.path != path) return false;
  --fault.left;
  ++fault.failed;
  errno = EIO;
  return true;
}

}  // namespace

extern "C" {
int stat(const char* path, struct stat* status) noexcept {
  if (is_hit(stat_fault, path)) return -1;
  const int result = ::fstatat(AT_FDCWD, path, status, 0);
  if (result == 0) status->st_mtim.tv_sec -= static_cast<time_t>(seconds_behind);
  return result;
}
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(list, unsigned) : 0;
  va_end(list);
  if (is_hit(open_fault, path)) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
}

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::evaluated_model;
using ::testing::HasSubstr;
using testing::kEvaluated;

constexpr std::size_t kMostFileBytes = 20'000;
constexpr int kManyTimes = 1'000'000;

class EvaluatorFaults : public testing::EvaluatedRun {
 protected:
  ~EvaluatorFaults() override {
    stat_fault = open_fault = {};
    seconds_behind = 0;
  }

  // Trains, and makes evaluations.jsonl as long as a file may become on the full disk. Returns the
  // number of its lines.
  std::size_t train_and_fill() {
    train(2);
    std::string filler;
    while (filler.size() + 50 < kMostFileBytes) {
      filler += R"({"run":"000102030405060708090a0b0c0d0e0f","start":1,"step":1,)"
                R"("samples":1,"sums":[1.0],"means":{}})"
                "\n";
    }
    std::ofstream(run() / "evaluations.jsonl") << filler;
    return line_count();
  }

  // Runs an evaluator while the disk is full until this step has its score.
  void evaluate_until_room(std::uint64_t step) {
    std::optional<testing::FullDisk> full(kMostFileBytes);
    Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
    ::testing::internal::CaptureStderr();
    report_ = evaluator.run([&](const CheckpointScore& score) {
      if (score.step != step) return;
      while_full_ = line_count();
      full.reset();
    });
    full.reset();
    reported_ = ::testing::internal::GetCapturedStderr();
  }

  EvaluatorReport report_;
  std::string reported_;
  std::size_t while_full_ = 0;
};

// The scores are written once the disk has room: with the next one, or after the last one. Without
// a look at the limit of file sizes, SIGXFSZ would end this process.
TEST_F(EvaluatorFaults, GoesOnWhenTheDiskIsFull) {
  for (const std::uint64_t step : {9, 12}) {
    const std::size_t before = train_and_fill();
    evaluate_until_room(step);
    EXPECT_EQ(report_.evaluated, 4U);
    EXPECT_TRUE(report_.has_ended);
    EXPECT_EQ(while_full_, before);
    EXPECT_EQ(line_count(), before + 4) << "room after step " << step;
    const auto first = reported_.find("rota: warning: the evaluator keeps its scores in memory");
    ASSERT_NE(first, std::string::npos) << reported_;
    EXPECT_EQ(reported_.find("warning", reported_.find('\n')), std::string::npos) << reported_;
    EXPECT_EQ(evaluate().evaluated, 0U);
  }
}

TEST_F(EvaluatorFaults, SaysHowManyScoresAreLost) {
  const std::size_t before = train_and_fill();
  evaluate_until_room(1000);
  EXPECT_EQ(report_.evaluated, 4U);
  EXPECT_THAT(reported_, HasSubstr("ends without having written the last scores (4 lines): "));
  EXPECT_EQ(line_count(), before);
  EXPECT_EQ(evaluate().evaluated, 4U) << "again";
}

// The run goes on, so the evaluator waits for the next checkpoint. The disk has room again only
// when the last score could not be written.
TEST_F(EvaluatorFaults, WritesScoresWhileItWaits) {
  const std::size_t before = train_and_fill();
  std::filesystem::remove(run() / "ended.json");
  std::optional<testing::FullDisk> full(kMostFileBytes);
  std::atomic<bool> is_last_known = false;
  std::thread thread([&] {
    Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
    evaluator.run([&](const CheckpointScore& score) { is_last_known = score.step == 12; });
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto wait_until = [&](const auto& is_done) {
    while (!is_done() && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return is_done();
  };
  EXPECT_TRUE(wait_until([&] { return is_last_known.load(); }));
  EXPECT_EQ(line_count(), before);
  full.reset();
  EXPECT_TRUE(wait_until([&] { return line_count() == before + 4; }));
  ::kill(::getpid(), SIGTERM);
  thread.join();
}

// The fifth try succeeds.
TEST_F(EvaluatorFaults, TriesAFolderAgainThatCannotBeRead) {
  train(1);
  const std::string path = checkpoint("3").string();
  stat_fault = {.path = path, .left = 4};
  EXPECT_EQ(evaluate().evaluated, 2U);
  EXPECT_EQ(stat_fault.failed, 4);
}

TEST_F(EvaluatorFaults, EndsWhereTheFolderStaysUnreadable) {
  train(1);
  const std::string path = checkpoint("3").string();
  stat_fault = {.path = path, .left = kManyTimes};
  EXPECT_THROW(evaluate(), UnreadableFile);
  EXPECT_EQ(stat_fault.failed, 5);
}

// The evaluator looks at the folder after each batch, and has little time: a manifest that cannot
// be read is not tried again at each look.
TEST_F(EvaluatorFaults, ReadsEachManifestOnceAfterSigterm) {
  train(2);
  const std::string path = (checkpoint("9") / "manifest.json").string();
  const EvaluatorReport report =
      evaluate_with_sigterm([&] { open_fault = {.path = path, .left = kManyTimes}; });
  EXPECT_THAT(evaluated(), ElementsAre(12));
  EXPECT_EQ(report.left, 3U);
  EXPECT_GE(open_fault.failed, 1);
  EXPECT_LE(open_fault.failed, 5) << "five tries for one manifest";
}

// Beside ranks, an end counts if it came after this process began. The times of files are those of
// a file server, whose clock may be behind or ahead.
TEST_F(EvaluatorFaults, KnowsAnEarlierEndWhateverTheClockOfTheServerSays) {
  train(1);
  ::setenv("ROTA_ROLE", "evaluator", 1);
  for (const int hours : {1, 0, -1}) {
    seconds_behind = std::int64_t{3600} * hours;
    const auto began = std::chrono::steady_clock::now();
    std::atomic<bool> has_ended = false;
    EvaluatorReport report;
    std::thread thread([&] {
      report = evaluate();
      has_ended = true;
    });
    while (!has_ended && std::chrono::steady_clock::now() < began + std::chrono::seconds(20)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(has_ended) << hours;
    if (!has_ended) ::kill(::getpid(), SIGTERM);
    thread.join();
    EXPECT_TRUE(report.has_ended);
  }
  seconds_behind = 0;
  make_end_old();
  for (const int hours : {2, -2}) {
    seconds_behind = std::int64_t{3600} * hours;
    const EndSignal signal;  // SIGTERM may come before the evaluator expects it.
    std::thread killer([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ::kill(::getpid(), SIGTERM);
    });
    EXPECT_FALSE(evaluate().has_ended) << hours;
    killer.join();
  }
  ::unsetenv("ROTA_ROLE");
  for (const auto& entry : std::filesystem::directory_iterator(run())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".clock")) << entry.path();
  }
}

}  // namespace
}  // namespace rota
