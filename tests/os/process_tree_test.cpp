// A process is ended together with all processes that it has started, and no other process is
// ended. Method: shells leave daemons behind, which the keeper adopts. The test finds them among
// the descendants of the keeper.
#include "os/process_tree.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "os/host.h"

namespace rota::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = ProcessEvent::Kind;

constexpr auto kPatience = seconds(20);  // Only a hang takes longer.

// The parents of the daemon have ended. The daemon has left their session, and SIGTERM does not end
// it.
constexpr const char* kDaemon =
    "setsid sh -c 'trap \"\" TERM HUP; (sleep 60; sleep 60) & exit 0'; ";
constexpr std::size_t kDaemonSize = 2;  // A shell and its sleep.

ProcessPlan shell(const std::string& script) {
  ProcessPlan plan;
  plan.program = "/bin/sh";
  plan.arguments = {"sh", "-c", script};
  plan.environment = {"PATH=/usr/bin:/bin"};
  sigemptyset(&plan.signals.mask);
  return plan;
}

bool comes_true(const std::function<bool()>& condition) {
  const auto end = base::Clock::now() + kPatience;
  while (!condition()) {
    if (base::Clock::now() >= end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// Returns the next event; {-1, …} if no event comes.
ProcessEvent next_of(ProcessTree& tree) {
  std::optional<ProcessEvent> event;
  (void)comes_true([&] { return (event = tree.next_event()).has_value(); });
  return event.value_or(ProcessEvent{});
}

std::vector<pid_t> members_of(const ProcessTree& tree) {
  std::vector<pid_t> members = descendants_of(tree.keeper());
  std::ranges::sort(members);
  return members;
}

// Returns whether only the first process and the daemon are left. The first process executes
// `sleep` once the daemon's parents have ended.
bool has_settled(const ProcessTree& tree) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(tree.pid()) + "/comm") >> name;
  return name == "sleep" && members_of(tree).size() == 1 + kDaemonSize;
}

bool is_there(pid_t pid) { return ::kill(pid, 0) == 0; }

// Runs `body` in a fork of this process, and returns how the fork has ended.
ProcessEvent in_a_split(const std::function<int()>& body) {
  const pid_t pid = fork_process();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return to_event(pid, status);
}

TEST(ProcessTreeTest, TellsHowItsFirstProcessEnds) {
  for (const int code : {0, 3, 127, 255}) {
    ProcessTree tree(shell("exit " + std::to_string(code)));
    const ProcessEvent event = next_of(tree);
    EXPECT_EQ(event.pid, tree.pid());
    EXPECT_EQ(event.kind, Kind::kExited);
    EXPECT_EQ(event.value, code);
    EXPECT_TRUE(tree.end(kPatience));
  }
  for (const int number : {SIGTERM, SIGINT, SIGKILL, SIGSEGV}) {
    ProcessTree tree(shell("ulimit -c 0; kill -" + std::to_string(number) + " $$"));
    const ProcessEvent event = next_of(tree);
    EXPECT_EQ(event.kind, Kind::kKilled);
    EXPECT_EQ(event.value, number);
    EXPECT_TRUE(tree.end(kPatience));
  }
}

TEST(ProcessTreeTest, TellsOfStops) {
  ProcessTree tree(shell("kill -STOP $$; exec sleep 60"));
  EXPECT_EQ(next_of(tree).kind, Kind::kStopped);
  tree.signal(SIGCONT);
  EXPECT_EQ(next_of(tree).kind, Kind::kContinued);
  tree.signal(SIGTERM);
  EXPECT_EQ(next_of(tree).value, SIGTERM);
  EXPECT_TRUE(tree.end(kPatience));
}

// Lets this process, and what it starts from then on, run on one CPU. Returns whether it may.
bool use_one_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(allowed_cpus().front()), &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

// Signals the tree from a process that runs only if no other process of this CPU wants to. So each
// process of the tree has done what the signal makes it do before the next one gets the signal.
// Returns whether a process may give its priority up.
bool signal_slowly(ProcessTree& tree, int number) {
  const ProcessEvent ending = in_a_split([&] {
    const sched_param no_priority{};
    if (::sched_setscheduler(0, SCHED_IDLE, &no_priority) != 0) return 1;
    tree.signal(number);
    return 0;
  });
  return ending.value == 0;
}

// If the `sleep` of a shell ends before the shell gets the signal, the shell returns from `wait`,
// and exits with 3 before its trap runs.
constexpr const char* kTrapping = "trap 'exit 7' TERM; sleep 60 & wait; exit 3";

// This shell starts the trapping shell, and exits with its exit code. A signal for the shell itself
// ends the first `wait`, with a code above 128.
constexpr const char* kAbove =
    "trap : TERM; sh -c \"$TRAPPING\" & wait $!; code=$?; "
    "[ $code -lt 128 ] || { wait $!; code=$?; }; exit $code";

// Means that no process may choose its CPU or its priority here. No script ends with this code.
constexpr int kMayNotChoose = 100;

// Returns how the first process of a tree of `size` processes ends after SIGTERM, or kMayNotChoose.
int end_by_term(const std::string& script, std::size_t size) {
  const ProcessEvent ending = in_a_split([&] {
    if (!use_one_cpu()) return kMayNotChoose;
    ProcessPlan plan = shell(script);
    plan.environment.emplace_back(std::string("TRAPPING=") + kTrapping);
    ProcessTree tree(plan);
    if (!comes_true([&] { return members_of(tree).size() == size; })) return 1;
    if (!signal_slowly(tree, SIGTERM)) return kMayNotChoose;
    const int code = next_of(tree).value;
    return tree.end(kPatience) ? code : 2;
  });
  return ending.value;
}

TEST(ProcessTreeTest, SignalsEachProcessBeforeWhatItHasStarted) {
  for (int trial = 0; trial < 2; ++trial) {
    const int ending = end_by_term(kTrapping, 2);
    if (ending == kMayNotChoose) GTEST_SKIP() << "no process may choose its CPU and priority here";
    ASSERT_EQ(ending, 7) << "in trial " << trial;
    ASSERT_EQ(end_by_term(kAbove, 3), 7) << "in trial " << trial;
  }
}

// The shell in the background would end with the signal, and the first process then with 3.
TEST(ProcessTreeTest, SignalsTheFirstProcessAlone) {
  ProcessTree tree(shell("trap 'kill -0 $! && exit 7; exit 3' USR1; sleep 60 & wait; exit 4"));
  EXPECT_TRUE(comes_true([&] { return members_of(tree).size() == 2; }));
  tree.signal_first(SIGUSR1);
  EXPECT_EQ(next_of(tree).value, 7);
  tree.signal_first(SIGUSR1);  // Has no process any more.
  EXPECT_TRUE(tree.end(kPatience));
}

TEST(ProcessTreeTest, TellsWhyAProgramCannotBeRun) {
  ProcessPlan plan = shell("");
  plan.program = "/nowhere/program";
  ProcessTree tree(plan);
  EXPECT_EQ(next_of(tree).value, 127);
  const auto failure = tree.take_start_failure();
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->is_missing);
  EXPECT_FALSE(tree.take_start_failure());
  EXPECT_TRUE(tree.end(kPatience));
}

TEST(ProcessTreeTest, StaysUntilItsLastProcessHasEnded) {
  ProcessTree tree(shell("(sleep 0.2) & exit 0"));
  EXPECT_EQ(next_of(tree).kind, Kind::kExited);
  EXPECT_EQ(::waitpid(tree.keeper(), nullptr, WNOHANG), 0);
  EXPECT_EQ(::waitpid(tree.keeper(), nullptr, 0), tree.keeper());
  tree.on_keeper_end();
}

TEST(ProcessTreeTest, IsEndedWithItsDaemonAndNoOther) {
  std::vector<ProcessTree> trees;
  trees.reserve(4);
  for (int i = 0; i < 4; ++i) {
    trees.emplace_back(shell(kDaemon + std::string("exec sleep 60")));
  }
  std::vector<std::vector<pid_t>> members;
  for (const ProcessTree& tree : trees) {
    EXPECT_TRUE(comes_true([&] { return has_settled(tree); }));
    members.push_back(members_of(tree));
  }
  trees[2].signal(SIGTERM);
  EXPECT_EQ(next_of(trees[2]).value, SIGTERM);
  EXPECT_TRUE(trees[2].end(kPatience));
  for (const pid_t pid : members[2]) EXPECT_FALSE(is_there(pid));
  for (const std::size_t other : {0U, 1U, 3U}) {
    EXPECT_EQ(members_of(trees[other]), members[other]);
    EXPECT_FALSE(trees[other].next_event());
    EXPECT_TRUE(trees[other].end(kPatience));
    for (const pid_t pid : members[other]) EXPECT_FALSE(is_there(pid));
  }
}

TEST(ProcessTreeTest, EndsWhenTheProcessThatStartedItIsKilled) {
  adopt_orphans();
  const ProcessEvent ending = in_a_split([] {
    const ProcessTree tree(shell(kDaemon + std::string("exec sleep 60")));
    (void)comes_true([&] { return has_settled(tree); });
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(ending.value, SIGKILL);
  EXPECT_TRUE(comes_true([] { return ::waitpid(-1, nullptr, WNOHANG) < 0; }));
}

// Makes a process with a child. The child makes a tree and goes on with `body`. The process ends
// with 0 once the child is stopped or `beats` has grown. Returns how the process ended.
ProcessEvent end_above(const std::function<void(std::atomic<std::uint64_t>& beats)>& body) {
  void* page = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* beats = new (page) std::atomic<std::uint64_t>(0);
  return in_a_split([beats, &body] {
    const pid_t guard = ::getpid();
    const pid_t child = fork_process();
    if (child == 0) {
      die_with_parent(guard, SIGTERM);
      const ProcessTree tree(shell(kDaemon + std::string("exec sleep 60")),
                             {.guard = guard, .beats = beats});
      (void)comes_true([&] { return has_settled(tree); });
      body(*beats);
      ::_exit(0);
    }
    const auto is_stopped = [&] { return ::waitpid(child, nullptr, WNOHANG | WUNTRACED) == child; };
    return comes_true([&] { return beats->load() > 0 || is_stopped(); }) ? 0 : 1;
  });
}

bool all_gone_within(seconds limit) {
  const auto end = base::Clock::now() + limit;
  while (::waitpid(-1, nullptr, WNOHANG) >= 0) {
    if (base::Clock::now() >= end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

TEST(ProcessTreeTest, WakesWhoeverIsStoppedWhenItsParentEnds) {
  adopt_orphans();
  EXPECT_EQ(end_above([](auto&) { ::raise(SIGSTOP); }).value, 0);
  EXPECT_TRUE(all_gone_within(seconds(4)));
  EXPECT_TRUE(end_descendants(kPatience));
}

TEST(ProcessTreeTest, KillsWhoeverHangsAfterItsParentsEnd) {
  adopt_orphans();
  const ProcessEvent ending = end_above([](auto& beats) {
    ::signal(SIGTERM, SIG_IGN);
    beats.store(1);
    for (;;) ::pause();
  });
  EXPECT_EQ(ending.value, 0);
  EXPECT_FALSE(all_gone_within(seconds(4)));
  EXPECT_TRUE(all_gone_within(seconds(4)));
  EXPECT_TRUE(end_descendants(kPatience));
}

TEST(ProcessTreeTest, LeavesAloneWhoeverBeatsAfterItsParentsEnd) {
  adopt_orphans();
  const ProcessEvent ending = end_above([](auto& beats) {
    ::signal(SIGTERM, SIG_IGN);
    for (;; std::this_thread::sleep_for(seconds(1))) beats.fetch_add(1);
  });
  EXPECT_EQ(ending.value, 0);
  EXPECT_FALSE(all_gone_within(seconds(7)));
  EXPECT_TRUE(end_descendants(kPatience));
}

TEST(ProcessTreeTest, FreesItsProcessesWhenTheKeeperIsKilled) {
  adopt_orphans();
  ProcessTree tree(shell(kDaemon + std::string("exec sleep 60")));
  EXPECT_TRUE(comes_true([&] { return has_settled(tree); }));
  ::kill(tree.keeper(), SIGKILL);
  const ProcessEvent event = next_of(tree);
  EXPECT_EQ(event.kind, Kind::kKilled);
  EXPECT_EQ(event.value, SIGKILL);
  EXPECT_FALSE(tree.end(kPatience));
  EXPECT_TRUE(end_descendants(kPatience));
}

// Hides /proc and calls `body`. Must run in a fork, because /proc stays hidden from its process.
// Returns 0 if `body` returns true, 1 if not, and 2 if /proc cannot be hidden.
int end_without_proc(const std::function<bool()>& body) {
  if (::unshare(CLONE_NEWNS) != 0) return 2;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
  if (::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) return 2;
  adopt_orphans();
  return body() ? 0 : 1;
}

TEST(WithoutProc, ATreeIsEndedWithItsDaemon) {
  adopt_orphans();
  const ProcessEvent ending = in_a_split([] {
    return end_without_proc([] {
      ProcessTree tree(shell(kDaemon + std::string("kill -STOP $$; exec sleep 60")));
      if (next_of(tree).kind != Kind::kStopped) return false;
      tree.signal(SIGCONT);
      if (next_of(tree).kind != Kind::kContinued) return false;
      tree.signal(SIGTERM);
      return next_of(tree).value == SIGTERM && tree.end(kPatience);
    });
  });
  if (ending.value == 2) GTEST_SKIP() << "no tmpfs can be mounted here";
  EXPECT_EQ(ending.value, 0);
  EXPECT_LT(::waitpid(-1, nullptr, WNOHANG), 0) << "a process was left behind";
}

TEST(WithoutProc, AllDescendantsAreEnded) {
  adopt_orphans();
  const ProcessEvent ending = in_a_split([] {
    return end_without_proc([] {
      (void)start_process(shell(kDaemon + std::string("sh -c 'sleep 60; sleep 60' & wait")));
      (void)start_process(shell("trap '' TERM; sleep 60; sleep 60"));
      std::this_thread::sleep_for(milliseconds(100));
      return end_descendants(kPatience);
    });
  });
  if (ending.value == 2) GTEST_SKIP() << "no tmpfs can be mounted here";
  EXPECT_EQ(ending.value, 0);
  EXPECT_LT(::waitpid(-1, nullptr, WNOHANG), 0) << "a process was left behind";
}

}  // namespace
}  // namespace rota::os
