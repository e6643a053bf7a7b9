// The outer of rotarun's two processes.
#include "launcher/guard.h"

#include <cstdio>
#include <optional>
#include <string>

#include "launcher/exit_policy.h"
#include "launcher/report.h"
#include "os/host.h"
#include "os/output.h"
#include "os/poll_set.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

constexpr auto kCleanUpTime = std::chrono::seconds(5);

// How long agents of other hosts may take to end after the job.
constexpr auto kFarewellTime = std::chrono::seconds(5);
constexpr auto kLastWordsTime = std::chrono::seconds(1);
constexpr int kStderr = 2;

void pass_on(const os::Signal& signal, pid_t child) {
  // What was typed at the terminal has reached the child already; a hangup may not have.
  const bool was_typed = signal.from_terminal && signal.number != SIGHUP;
  if (signal.number == SIGCHLD || was_typed) return;
  os::send_signal(child, signal.number);
  os::send_signal(child, SIGCONT);  // A suspended one could not act on it.
}

class Guard {
 public:
  Guard(os::SignalWatch& signals, pid_t child, OtherChildren* others)
      : signals_(signals), child_(child), others_(others) {}

  os::ProcessEvent watch() {
    while (!ending_) turn(std::nullopt);
    const base::TimePoint end = base::Clock::now() + kFarewellTime;
    while (others_ && !others_->have_ended() && base::Clock::now() < end) turn(end);
    return *ending_;
  }

 private:
  // Orphans that the child left to us are reaped on the way.
  void turn(std::optional<base::TimePoint> end) {
    while (const auto signal = signals_.next()) pass_on(*signal, child_);
    while (const auto event = os::next_process_event().event) hear(*event);
    if (ending_ && (!others_ || others_->have_ended())) return;
    os::PollSet polls;
    polls.add(signals_.fd(), true, false);
    polls.wait(end);
  }

  void hear(const os::ProcessEvent& event) {
    using Kind = os::ProcessEvent::Kind;
    const bool has_ended = event.kind == Kind::kExited || event.kind == Kind::kKilled;
    if (event.pid == child_ && has_ended) ending_ = event;
    if (event.pid != child_ && others_) others_->on_process(event);
  }

  os::SignalWatch& signals_;
  pid_t child_;
  OtherChildren* others_;
  std::optional<os::ProcessEvent> ending_;
};

void say(const std::string& line) {
  os::Output output(kStderr);
  os::PollSet polls;
  polls.add(output.fd(), false, true);
  polls.wait(base::Clock::now() + kLastWordsTime);
  if (polls.writable(0)) output.write(line);
}

}  // namespace

int run_guarded(os::SignalWatch& signals, const std::function<int(pid_t guard)>& body,
                OtherChildren* others) {
  const pid_t guard = os::own_process();
  os::adopt_orphans();
  const pid_t child = os::fork_process();
  if (child == 0) {
    os::die_with_parent(guard, SIGTERM);
    os::adopt_orphans();
    return body(guard);
  }
  forget_reason();  // The child says it.
  if (others) others->after_fork();
  const os::ProcessEvent ending = Guard(signals, child, others).watch();
  const bool all_gone = os::end_descendants(kCleanUpTime);
  if (!all_gone) say("rotarun: some processes of the job could not be ended\n");
  if (ending.kind == os::ProcessEvent::Kind::kExited) return ending.value;
  const std::string why = "rotarun: its own process " + std::to_string(child) + " was killed by " +
                          os::signal_name(ending.value) + "; the job was ended\n";
  note_cause(why);
  say(why);
  return kExitSignalBase + ending.value;
}

}  // namespace rota::launcher
