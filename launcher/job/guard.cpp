// The guard cleans up all processes of the job when the process that runs the job is killed, or
// hangs.
#include "launcher/job/guard.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "launcher/command/exit_codes.h"
#include "launcher/job/end_report.h"
#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/ranks/oom_kills.h"
#include "os/host.h"
#include "os/output.h"
#include "os/poll_set.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

constexpr auto kCleanUpTime = std::chrono::seconds(5);

// How long agents (programs such as ssh, which started rotarun on other hosts) may take to end
// after the job. kAskedAgentsTime is for the case that somebody has asked for the end and waits for
// it.
constexpr auto kAgentsTime = std::chrono::seconds(5);
constexpr auto kAskedAgentsTime = std::chrono::seconds(1);
constexpr auto kLastWordsTime = std::chrono::seconds(1);

// Returns the state of a process, which /proc/PID/stat has after the program's name: T is stopped,
// t is traced, D waits for a disk. Returns nothing if there is no such file.
std::optional<char> state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return std::nullopt;
  return line[name_end + 2];
}

bool is_excused(pid_t pid) {
  const char state = state_of(pid).value_or('?');
  return state == 'D' || state == 't';
}

// Passes a request on. A suspended child cannot act on the signal, so it is woken first. A traced
// child is not woken: a debugger, or LeakSanitizer as the child ends, has stopped it and waits for
// the stop.
void pass_request_on(const os::Signal& signal, pid_t child) {
  if (state_of(child).value_or('T') == 'T') os::send_signal(child, SIGCONT);
  os::send_signal(child, signal.number);
}

class Guard {
 public:
  Guard(os::SignalWatch& signals, pid_t child, OtherChildren* others)
      : signals_(signals), child_(child), others_(others) {}

  // Returns whether the child was killed because it no longer sent heartbeats.
  bool was_hung() const noexcept { return was_hung_; }

  os::ProcessEvent watch() {
    while (!ending_) {
      const base::TimePoint now = base::Clock::now();
      if (now >= next_look_) look(now);
      turn(next_look_);
    }
    const base::TimePoint start = base::Clock::now();
    while (others_ && !others_->have_ended() && base::Clock::now() < deadline_from(start)) {
      turn(deadline_from(start));
    }
    return *ending_;
  }

 private:
  // Returns the time until which the other children may run, if the child ended at `start`.
  // Somebody may ask for the end before or after `start`.
  base::TimePoint deadline_from(base::TimePoint start) const {
    const base::TimePoint end = start + kAgentsTime;
    return asked_at_ ? std::min(end, std::max(start, *asked_at_) + kAskedAgentsTime) : end;
  }

  // Makes one iteration of the loop. Also reaps orphans that the child left to this process.
  void turn(base::TimePoint end) {
    os::PollSet polls;
    polls.add(signals_.fd(), true, false);
    polls.wait(end);
    while (const auto signal = signals_.next()) {
      if (signal->number != SIGCHLD) hear(*signal);
    }
    has_early_ = false;
    while (const auto event = os::next_process_event().event) hear(*event);
  }

  // Passes a signal on to the child, which decides what follows. A signal for the ranks does not
  // wake a suspended child.
  void hear(const os::Signal& signal) {
    if (signals_.is_notice(signal.number)) {
      if (!ending_) os::send_signal(child_, signal.number);
      return;
    }
    if (!asked_at_) asked_at_ = base::Clock::now();
    if (!ending_ && (has_early_ || !was_typed(signal))) pass_request_on(signal, child_);
  }

  // Kills the child if it hangs. Its descendants then become children of this process.
  void look(base::TimePoint now) {
    next_look_ = now + kPulseTime;
    // A stop that was under way when somebody asked for the end may take effect only afterwards.
    if (asked_at_ && state_of(child_) == 'T') os::send_signal(child_, SIGCONT);
    if (was_hung_ || !watch_.is_hung(now, count_beats(), is_excused(child_))) return;
    was_hung_ = true;
    os::send_signal(child_, SIGKILL);
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
  // A signal typed before the child existed did not reach the child. A signal typed just after the
  // child's start may reach it twice.
  bool has_early_ = signals_.has_request();
  HangWatch watch_;
  base::TimePoint next_look_ = base::Clock::now() + kPulseTime;
  bool was_hung_ = false;
  std::optional<base::TimePoint> asked_at_;  // When somebody asked for the end.
  std::optional<os::ProcessEvent> ending_;
};

void say(const std::string& line) {
  os::Output output(os::kStderr);
  os::PollSet polls;
  polls.add(output.fd(), false, true);
  polls.wait(base::Clock::now() + kLastWordsTime);
  if (polls.writable(0)) output.write(line);
}

}  // namespace

bool was_typed(const os::Signal& signal) noexcept {
  return signal.from_terminal && signal.number != SIGHUP;
}

int run_guarded(os::SignalWatch& signals, const std::function<int(pid_t guard)>& body,
                OtherChildren* others) {
  const pid_t guard = os::own_process();
  if (!os::adopt_orphans()) {
    complain(
        "warning: this system does not let rotarun adopt orphans (PR_SET_CHILD_SUBREAPER): a "
        "process whose parent ends before it may outlive the job");
  }
  make_heartbeat();
  share_explained_kills();
  OomKills oom_kills;
  const pid_t child = os::fork_process();
  if (child == 0) {
    os::die_with_parent(guard, SIGTERM);
    os::adopt_orphans();
    return body(guard);
  }
  forget_reason();  // The child reports the reason.
  if (others) others->after_fork();
  Guard watch(signals, child, others);
  const os::ProcessEvent ending = watch.watch();
  const bool all_gone = os::end_descendants(kCleanUpTime);
  if (!all_gone) say("rotarun: some processes of the job could not be ended\n");
  if (ending.kind == os::ProcessEvent::Kind::kExited) return ending.value;
  const std::string silence = count_beats() == 0 ? "30 s" : "5 s";
  const std::string cause = watch.was_hung() ? "" : oom_kills.why_killed(ending.value);
  const std::string why = "rotarun: its own process " + std::to_string(child) +
                          (watch.was_hung() ? " was stopped, or hung, for about " + silence
                                            : " was killed by " + os::signal_name(ending.value)) +
                          (cause.empty() ? "" : ": " + cause) + "; the job was ended\n";
  note_cause(why);
  say(why);
  return watch.was_hung() ? kExitSilent : kExitSignalBase + ending.value;
}

}  // namespace rota::launcher
