// Starts, signals and ends a process tree through its keeper.
#include "os/process_tree.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "os/exec_plan.h"
#include "os/keeper.h"
#include "os/pidfd.h"
#include "os/pipe.h"
#include "os/poll_set.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// Reads the next record. The keeper writes a record in one call, so a part of a record never
// arrives.
Io read_record(const Fd& pipe, KeeperRecord& record) {
  char bytes[sizeof record];
  const ReadResult result = read_available(pipe.get(), bytes);
  if (result.io == Io::kDone) std::memcpy(&record, bytes, sizeof record);
  return result.io;
}

// Holds process `parent`. Returns nothing if `parent` is no longer the parent of this process:
// another process may have its number by now.
Fd hold_parent(pid_t parent) noexcept {
  if (parent <= 0) return {};
  HeldProcess held = hold_process(parent);
  return ::getppid() == parent ? std::move(held.handle) : Fd();
}

}  // namespace

ProcessTree::ProcessTree(const ProcessPlan& plan, const Oversight& oversight) {
  const ExecPlan prepared = prepare(plan);
  auto [read_end, write_end] = make_pipe();
  const Fd guard = hold_parent(oversight.guard);
  const KeeperLinks links{.parent = ::getpid(),
                          .pipe = write_end.get(),
                          .guard = guard.get(),
                          .beats = oversight.beats};
  keeper_ = fork_process();
  if (keeper_ == 0) keep(plan, prepared, links);
  events_ = std::move(read_end);
  write_end.reset();
  wait_for_start();
}

ProcessTree::ProcessTree(ProcessTree&& other) noexcept { *this = std::move(other); }

ProcessTree& ProcessTree::operator=(ProcessTree&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(keeper_, other.keeper_);
  std::swap(events_, other.events_);
  std::swap(has_ended_, other.has_ended_);
  std::swap(start_failure_, other.start_failure_);
  return *this;
}

ProcessTree::~ProcessTree() {
  if (keeper_ > 0) signal(SIGKILL);
}

// Waits until the keeper has reported the number of the first process, or why there is none.
void ProcessTree::wait_for_start() {
  KeeperRecord record;
  PollSet polls;
  polls.add(events_.get(), true, false);
  polls.wait(std::nullopt);
  const Io io = read_record(events_, record);
  if (io == Io::kDone && record.kind == KeeperRecord::Kind::kStarted) {
    pid_ = record.value;
    return;
  }
  const pid_t keeper = std::exchange(keeper_, -1);
  while (::waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw_cannot_start("starting a process", io == Io::kDone ? record.value : ECHILD);
}

std::optional<ProcessEvent> ProcessTree::next_event() {
  while (events_) {
    KeeperRecord record;
    const Io io = read_record(events_, record);
    if (io == Io::kWouldBlock) return std::nullopt;
    if (io == Io::kClosed) {
      events_.reset();
      if (std::exchange(has_ended_, true)) return std::nullopt;
      return ProcessEvent{pid_, ProcessEvent::Kind::kKilled, SIGKILL};
    }
    if (record.kind == KeeperRecord::Kind::kNoProgram) start_failure_ = to_failure(record.value);
    if (record.kind != KeeperRecord::Kind::kChanged) continue;
    const ProcessEvent event = to_event(pid_, record.value);
    using Kind = ProcessEvent::Kind;
    has_ended_ = event.kind == Kind::kExited || event.kind == Kind::kKilled;
    return event;
  }
  return std::nullopt;
}

std::optional<StartFailure> ProcessTree::take_start_failure() {
  return std::exchange(start_failure_, std::nullopt);
}

void ProcessTree::signal(int signal) noexcept {
  if (keeper_ <= 0) return;
  if (signal == SIGKILL) {
    ::kill(keeper_, end_all_signal());
    ::kill(keeper_, SIGCONT);  // A stopped keeper would not obey.
    return;
  }
  if (signal_descendants_of(keeper_, signal) == 0) signal_first(signal);
}

// The keeper sends the signal: it alone knows when the number of the first process is free again.
void ProcessTree::signal_first(int signal) noexcept {
  if (keeper_ <= 0) return;
  sigval value{};
  value.sival_int = signal;
  ::sigqueue(keeper_, pass_on_signal(), value);
}

bool ProcessTree::end(base::Duration limit) noexcept {
  const base::TimePoint end = base::Clock::now() + limit;
  signal(SIGKILL);
  while (keeper_ > 0) {
    int status = 0;
    const pid_t reaped = ::waitpid(keeper_, &status, WNOHANG);
    if (reaped < 0 && errno == EINTR) continue;
    if (reaped != 0) {
      keeper_ = -1;
      return reaped > 0 && WIFEXITED(status);
    }
    if (base::Clock::now() >= end) return false;
    const timespec pause{0, 200'000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace rota::os
