// What every launch begins with.
#include "launcher/start.h"

#include <signal.h>

#include <array>
#include <cstdio>

#include "launcher/exit_policy.h"
#include "launcher/program_check.h"
#include "launcher/report.h"
#include "os/host.h"

namespace rota::launcher {

void complain(const std::string& text) {
  std::fprintf(stderr, "rotarun: %s\n", text.c_str());
  note_reason(text);
}

os::SignalWatch watch_signals() {
  constexpr std::array<int, 5> kWatched = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  return os::SignalWatch(kWatched);
}

Found find_program(const Options& options, const std::vector<std::string>& environment) {
  const ProgramCheck check = check_program(options, environment);
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
