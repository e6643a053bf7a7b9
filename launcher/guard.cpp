// The outer of rotarun's two processes.
#include "launcher/guard.h"

#include <cstdio>
#include <optional>
#include <string>

#include "launcher/exit_policy.h"
#include "os/host.h"
#include "os/output.h"
#include "os/poll_set.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

constexpr auto kCleanUpTime = std::chrono::seconds(5);
constexpr auto kLastWordsTime = std::chrono::seconds(1);
constexpr int kStderr = 2;

// How the child ended, if it has. Orphans that it left to us are reaped on the way.
std::optional<os::ProcessEvent> ending_of(pid_t child) {
  using Kind = os::ProcessEvent::Kind;
  while (const auto event = os::next_process_event().event) {
    const bool has_ended = event->kind == Kind::kExited || event->kind == Kind::kKilled;
    if (event->pid == child && has_ended) return event;
  }
  return std::nullopt;
}

void pass_on(const os::Signal& signal, pid_t child) {
  // What was typed at the terminal has reached the child already; a hangup may not have.
  const bool was_typed = signal.from_terminal && signal.number != SIGHUP;
  if (signal.number == SIGCHLD || was_typed) return;
  os::send_signal(child, signal.number);
  os::send_signal(child, SIGCONT);  // A suspended one could not act on it.
}

os::ProcessEvent watch(os::SignalWatch& signals, pid_t child) {
  for (;;) {
    while (const auto signal = signals.next()) pass_on(*signal, child);
    if (const auto ending = ending_of(child)) return *ending;
    os::PollSet polls;
    polls.add(signals.fd(), true, false);
    polls.wait(std::nullopt);
  }
}

void say(const std::string& line) {
  os::Output output(kStderr);
  os::PollSet polls;
  polls.add(output.fd(), false, true);
  polls.wait(base::Clock::now() + kLastWordsTime);
  if (polls.writable(0)) output.write(line);
}

}  // namespace

int run_guarded(os::SignalWatch& signals, const std::function<int(pid_t guard)>& body) {
  const pid_t guard = os::own_process();
  os::adopt_orphans();
  const pid_t child = os::fork_process();
  if (child == 0) {
    os::die_with_parent(guard, SIGTERM);
    os::adopt_orphans();
    return body(guard);
  }
  const os::ProcessEvent ending = watch(signals, child);
  const bool all_gone = os::end_descendants(kCleanUpTime);
  if (!all_gone) say("rotarun: some processes of the job could not be ended\n");
  if (ending.kind == os::ProcessEvent::Kind::kExited) return ending.value;
  say("rotarun: its own process " + std::to_string(child) + " was killed by " +
      os::signal_name(ending.value) + "; the job was ended\n");
  return kExitSignalBase + ending.value;
}

}  // namespace rota::launcher
