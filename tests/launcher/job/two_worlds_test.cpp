// Runs two worlds of one job, one after the other: the processes of the first world end with it,
// and the second world ignores late events of the first world. Method: shells as ranks, in this
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/world.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_processes.h"
#include "os/host.h"
#include "os/keeper.h"

namespace rota::launcher {
namespace {

using ::testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(20);  // Only a hang takes longer.

// Rank 1 of the first world ends after it has written; all other ranks run until they are killed.
constexpr const char* kScript =
    "echo \"this is world $WORLD\"; [ $WORLD$ROTA_RANK = 11 ] || exec sleep 100";

// Captures stderr, where --verbose writes, while an object of this class lives.
class CapturedErrors {
 public:
  CapturedErrors() { ::testing::internal::CaptureStderr(); }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors() { (void)take(); }

  std::string take() {
    return std::exchange(is_taken_, true) ? "" : ::testing::internal::GetCapturedStderr();
  }

 private:
  bool is_taken_ = false;
};

// Starts a child with a chosen process number. The child ends with 1 if it gets the signal by which
// a keeper is told to end, and with 0 if it gets SIGRTMAX first. Both must be blocked.
pid_t start_as(pid_t number) {
  clone_args how{};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<std::uintptr_t>(&number);
  how.set_tid_size = 1;
  const long pid = ::syscall(SYS_clone3, &how, sizeof how);
  if (pid != 0) return static_cast<pid_t>(pid);
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, os::end_all_signal());
  sigaddset(&awaited, SIGRTMAX);
  ::_exit(::sigwaitinfo(&awaited, nullptr) == SIGRTMAX ? 0 : 1);
}

class TwoWorlds : public ::testing::Test {
 protected:
  TwoWorlds() {
    os::adopt_orphans();
    std::filesystem::create_directories(folder_);
  }
  ~TwoWorlds() override {
    processes_.finish(kPatience, [] {});
    std::filesystem::remove_all(folder_);
  }

  void begin(std::uint32_t number) {
    world_.reset();
    context_.environment = {"PATH=/usr/bin:/bin", "WORLD=" + std::to_string(number)};
    plan_.assignment.world = number;
    world_.emplace(World::Job{options_, context_, signals_, processes_, nullptr, start_}, plan_,
                   prepare_here(options_, plan_, context_.environment));
  }

  void turn() {
    os::PollSet polls;
    processes_.add_to(polls);
    const base::TimePoint now = base::Clock::now();
    world_->add_to(polls, now);
    polls.wait(now + std::chrono::milliseconds(10));
    processes_.hear_starts(polls);
    world_->handle(polls, now);
    processes_.hear_processes();
    processes_.pass_on_output(polls);
  }

  bool comes_true(const std::function<bool()>& condition) {
    const base::TimePoint end = base::Clock::now() + kPatience;
    while (!condition() && base::Clock::now() < end) turn();
    return condition();
  }

  std::string written_by(std::size_t rank) const {
    std::ifstream file(folder_ + "/rank." + std::to_string(rank) + "/stdout");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::optional<Ending>& ending_of(std::size_t rank) {
    return world_->policy().records()[rank].ending;
  }

  CapturedErrors errors_;
  const std::string folder_ = ::testing::TempDir() + "two_worlds_" + std::to_string(::getpid());
  const Options options_ =
      parse_options({"-np", "2", "--oversubscribe", "--verbose", "--timeout", "1000",
                     "--output-filename", folder_, "/bin/sh", "-c", kScript});
  RunContext context_{.program_paths = {"/bin/sh"}};
  os::SignalWatch signals_{{}, std::array{SIGCHLD}};
  JobPlan plan_ = make_plan(options_, gather_facts(), [] { return std::vector<Core>(); });
  const base::TimePoint start_ = base::Clock::now();
  std::vector<JobEvent> heard_;
  LocalProcesses processes_{options_, 0, [this](const JobEvent& event) {
                              heard_.push_back(event);
                              world_->hear(event, base::Clock::now());
                            }};
  std::optional<World> world_;
};

TEST_F(TwoWorlds, OfOneHostDoNotMeet) {
  begin(1);
  EXPECT_TRUE(processes_.has_running());  // A process that has not started counts as running.
  world_->start();
  ASSERT_TRUE(comes_true([&] { return ending_of(1) && !written_by(0).empty(); }));
  processes_.kill();
  // The event of rank 0 arrives after the second world has begun.
  begin(2);
  world_->start();
  ASSERT_TRUE(comes_true([&] { return !heard_.empty() && heard_.back().world == 1; }));
  EXPECT_EQ(heard_.back().kind, JobEvent::Kind::kRankKilled);
  EXPECT_FALSE(ending_of(0));
  EXPECT_FALSE(ending_of(1));
  EXPECT_TRUE(processes_.has_running());
  ASSERT_TRUE(comes_true([&] { return written_by(1).ends_with("2\n"); }));
  ASSERT_TRUE(comes_true([&] { return written_by(0).ends_with("2\n"); }));
  // Two ranks and their keepers.
  EXPECT_TRUE(comes_true([] { return os::descendants_of(os::own_process()).size() == 4; }));
  processes_.kill();
  EXPECT_TRUE(comes_true([&] { return !processes_.has_children(); }));
  EXPECT_TRUE(ending_of(0));
  EXPECT_TRUE(ending_of(1));
  EXPECT_FALSE(processes_.has_running());
  EXPECT_TRUE(comes_true([&] { return !processes_.output().has_pending(); }));
  EXPECT_THAT(
      errors_.take(),
      HasSubstr("dropped a late event of world 1, from rank 0: it was killed by SIGKILL\n"));
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_EQ(written_by(rank), "this is world 1\nthis is world 2\n") << rank;
  }
}

// Other hosts wait meanwhile: without a sign of life they would count this host as lost.
TEST_F(TwoWorlds, ShowLifeWhileTheirProcessesAreEnded) {
  begin(1);
  world_->start();
  std::vector<std::size_t> still_running;
  EXPECT_TRUE(processes_.finish(
      kPatience, [&] { still_running.push_back(os::descendants_of(os::own_process()).size()); }));
  ASSERT_FALSE(still_running.empty());
  EXPECT_GT(still_running.front(), 0U);  // The first sign comes before the processes are ended.
}

// rotarun may stay for days after a job, and the numbers of the keepers become free.
TEST_F(TwoWorlds, LeaveAloneWhoeverGetsTheNumberOfAKeeper) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root chooses a process's number";
  begin(1);
  world_->start();
  const std::vector<pid_t> numbers = os::descendants_of(os::own_process());
  ASSERT_TRUE(processes_.finish(kPatience, [] {}));
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, os::end_all_signal());
  sigaddset(&blocked, SIGRTMAX);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  for (const pid_t number : numbers) ASSERT_EQ(start_as(number), number);
  processes_.kill();
  for (const pid_t stranger : numbers) {
    ::kill(stranger, SIGRTMAX);
    int status = 0;
    ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
    EXPECT_EQ(status, 0) << "it got the signal for a keeper";
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

// rotarun may wait for the reader of its output. If the ended processes were still polled, it would
// keep a core busy meanwhile.
TEST_F(TwoWorlds, AreNotWaitedForOnceTheirProcessesAreEnded) {
  begin(1);
  world_->start();
  ASSERT_TRUE(processes_.finish(kPatience, [] {}));
  os::PollSet polls;
  while (processes_.output().has_pending()) {
    polls.clear();
    processes_.add_to(polls);
    polls.wait(base::Clock::now() + kPatience);
    processes_.pass_on_output(polls);
  }
  polls.clear();
  processes_.add_to(polls);
  const base::TimePoint end = base::Clock::now() + std::chrono::milliseconds(100);
  polls.wait(end);
  EXPECT_GE(base::Clock::now(), end);
}

// A `JobEvent` of the job itself has no world number.
TEST_F(TwoWorlds, HearWhatBefallsTheJob) {
  begin(2);
  world_->hear({.kind = JobEvent::Kind::kSignal, .value = SIGTERM, .text = "b"}, start_);
  EXPECT_EQ(world_->policy().decide(start_, false), ExitPolicy::Action::kTerminate);
  EXPECT_EQ(world_->policy().outcome().signal, SIGTERM);
}

TEST_F(TwoWorlds, HaveOneTimeout) {
  begin(1);
  begin(2);
  EXPECT_EQ(world_->policy().decide(start_, true), ExitPolicy::Action::kNone);
  EXPECT_EQ(world_->policy().next_deadline(), start_ + std::chrono::seconds(1000));
}

}  // namespace
}  // namespace rota::launcher
