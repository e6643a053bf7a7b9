// What every launch begins with: the program is looked for, and rotarun splits in two.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/guard.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/news.h"
#include "os/signals.h"

namespace rota::launcher {

// A line to stderr, before there is anybody to keep it apart from. In the inner process it is left
// out, or cut, where nobody takes it for a second.
void complain(const std::string& text);

// Signals of rotarun's processes are read from here.
os::SignalWatch watch_signals();

// The programs as they are found here, by group. Where it cannot run, that is known to be the job's
// end on one host; several have to hear of it.
struct Found {
  std::vector<std::string> program_paths;
  std::optional<News> obstacle;
};
// `hides_ranks` as of check_program().
Found find_program(const Options& options, const std::vector<std::string>& environment,
                   bool hides_ranks);

// Of --key-fd, where no key is needed: reads it to its end, for others may hold the same pipe, and
// closes it.
void discard_key(const Options& options);

// Runs `run` in the inner process, and returns the exit code in both.
int start(const std::vector<std::string>& environment, const Found& found, os::SignalWatch& signals,
          const std::function<int(RunContext& context)>& run, OtherChildren* others = nullptr);

}  // namespace rota::launcher
