// What every launch begins with.
#include "launcher/job/start.h"

#include <signal.h>

#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/job/report.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/ranks/program_check.h"
#include "os/host.h"
#include "os/output.h"
#include "os/pipe.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

// How long a reader who does not read, such as a terminal that is stopped, may hold up the rest.
constexpr std::chrono::seconds kComplaintTime{1};

}  // namespace

// Whoever has begun to beat is to go on, and soon to turn again. Before that he may wait, for less
// than half a minute where somebody waits for the first beat.
void complain(const std::string& text) {
  note_reason(text);
  const std::string line = "rotarun: " + text + "\n";
  if (count_beats() == 0) {
    std::fputs(line.c_str(), stderr);
    return;
  }
  os::Output output(os::kStderr);
  std::string_view rest = line;
  for (const base::TimePoint end = base::Clock::now() + kComplaintTime;
       !rest.empty() && base::Clock::now() < end;) {
    os::PollSet polls;
    const std::size_t position = polls.add(output.fd(), false, true);
    wait_beating(polls, end);
    if (!polls.writable(position)) continue;
    const auto written = output.write(rest);
    if (written.io == os::Io::kClosed) return;
    rest.remove_prefix(written.count);
  }
}

os::SignalWatch watch_signals() {
  constexpr std::array<int, 5> kWatched = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  return os::SignalWatch(kWatched);
}

void discard_key(const Options& options) {
  constexpr std::chrono::seconds kPatience{30};
  constexpr std::size_t kMostReads = 32;  // Of more than what a pipe holds.
  if (!options.key_fd) return;
  const os::Fd fd(*options.key_fd);
  const base::TimePoint end = base::Clock::now() + kPatience;
  std::array<char, 4096> bytes{};
  try {
    for (std::size_t i = 0; i < kMostReads; ++i) {
      os::PollSet polls;
      const std::size_t position = polls.add(fd.get(), true, false);
      polls.wait(end);
      if (!polls.readable(position)) break;
      if (os::read_available(fd.get(), bytes).io == os::Io::kClosed) break;
    }
  } catch (const Error&) {  // It is nothing to read from, so there is no key in it.
  }
  os::wipe(std::as_writable_bytes(std::span(bytes)));
}

Found find_program(const Options& options, const std::vector<std::string>& environment,
                   bool hides_ranks) {
  const ProgramCheck check = check_program(options, environment, hides_ranks);
  for (const std::string& warning : check.warnings) complain("warning: " + warning);
  Found found{.program_paths = check.program_paths};
  if (check.exit_code == 0) return found;
  complain(check.complaint);
  // That ours is missing says nothing about theirs.
  const bool is_ours = options.preflight && check.exit_code != kExitUsage;
  found.obstacle = News{.kind = News::Kind::kNotStarted,
                        .value = is_ours ? kExitFailed : check.exit_code,
                        .text = check.complaint};
  return found;
}

int start(const std::vector<std::string>& environment, const Found& found, os::SignalWatch& signals,
          const std::function<int(RunContext& context)>& run, OtherChildren* others) {
  const auto body = [&](pid_t guard) {
    RunContext context{.program_paths = found.program_paths,
                       .environment = environment,
                       .open_file_limit = os::raise_open_file_limit(),
                       .guard = guard,
                       .obstacle = found.obstacle};
    return run(context);
  };
  return run_guarded(signals, body, others);
}

}  // namespace rota::launcher
