// Begins every launch: prints complaints, watches signals, finds the program, and splits rotarun
// into two processes.
#include "launcher/job/start.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/job/end_report.h"
#include "launcher/mpi/pmix/session_folders.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/ranks/program_check.h"
#include "os/host.h"
#include "os/output.h"
#include "os/pipe.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

// How long a reader that does not read, such as a stopped terminal, may delay rotarun.
constexpr std::chrono::seconds kComplaintTime{1};

}  // namespace

// Prints a line. A process that has sent a heartbeat waits for the reader at most kComplaintTime,
// because it must soon return to its event loop. Before its first heartbeat the process may block.
// But if the process has a guard, the guard kills it when there is no heartbeat for half a minute.
void complain(const std::string& text) {
  note_reason(text);
  const std::string line = "rotarun: " + text + "\n";
  if (count_beats() == 0) {
    os::print(os::kStderr, line);
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
    const bool is_full_disk = written.refusal != 0;  // It counts as writable all the time.
    if (written.io == os::Io::kClosed || is_full_disk) return;
    rest.remove_prefix(written.count);
  }
}

os::SignalWatch watch_signals(const Options& options) {
  constexpr std::array kRequests = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  constexpr std::array kForRanks = {SIGUSR1, SIGUSR2};
  std::vector<int> requests(kRequests.begin(), kRequests.end());
  std::vector<int> notices = {SIGCHLD};
  for (const int number : kForRanks) {
    (number == options.stop_signal ? requests : notices).push_back(number);
  }
  return {requests, notices};
}

std::string describe_dropped(int signal) {
  return "got " + os::signal_name(signal) + ", but no rank runs that it could be passed on to";
}

std::optional<int> next_request(os::SignalWatch& signals) {
  while (const auto signal = signals.next()) {
    if (!signals.is_notice(signal->number)) return signal->number;
    if (signal->number != SIGCHLD) complain(describe_dropped(signal->number));
  }
  return std::nullopt;
}

void discard_key(const Options& options) {
  constexpr std::chrono::seconds kPatience{30};
  constexpr std::size_t kMostReads = 32;  // Together more than a pipe holds.
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
  } catch (const Error&) {  // The descriptor cannot be read, so it has no key.
  }
  os::wipe(std::as_writable_bytes(std::span(bytes)));
}

Found find_program(const Options& options, const std::vector<std::string>& environment,
                   MpiView view) {
  const ProgramCheck check = check_program(options, environment, view);
  for (const std::string& warning : check.warnings) complain("warning: " + warning);
  for (const std::string& why : check.why_mpi) {
    if (options.verbose && !options.preflight) complain(why);
  }
  Found found{
      .program_paths = check.program_paths, .mpi = check.mpi, .mpi_libraries = check.mpi_libraries};
  if (check.exit_code == 0) return found;
  complain(check.complaint);
  // A missing rota-preflight says nothing about the job's own program.
  const bool is_ours = options.preflight && check.exit_code != kExitUsage;
  found.obstacle = JobEvent{.kind = JobEvent::Kind::kNotStarted,
                            .value = is_ours ? kExitFailed : check.exit_code,
                            .text = check.complaint};
  return found;
}

int start(const std::vector<std::string>& environment, const Found& found, os::SignalWatch& signals,
          const std::function<int(RunContext& context)>& run, OtherChildren* others) {
  // Both processes of rotarun have this object, so that one of them removes the folders.
  std::optional<SessionFolders> mpi_folders;
  const auto has_mpi = [](MpiKind kind) { return kind != MpiKind::kNone; };
  if (std::ranges::any_of(found.mpi, has_mpi)) mpi_folders.emplace(environment);
  const auto body = [&](pid_t guard) {
    RunContext context{.program_paths = found.program_paths,
                       .mpi = found.mpi,
                       .mpi_libraries = found.mpi_libraries,
                       .mpi_folders = mpi_folders ? &*mpi_folders : nullptr,
                       .environment = environment,
                       .open_file_limit = os::raise_open_file_limit(),
                       .guard = guard,
                       .obstacle = found.obstacle};
    return run(context);
  };
  return run_guarded(signals, body, others);
}

}  // namespace rota::launcher
