// What can be found wrong before anything starts.
#pragma once
#include <string>
#include <vector>

#include "launcher/options.h"

namespace rota::launcher {

struct ProgramCheck {
  std::vector<std::string> program_paths;  // What to run, by group.
  std::vector<std::string> warnings;
  int exit_code = 0;  // Other than 0: the job cannot start, and why.
  std::string complaint;
};

// Looks for each program where a rank would, and at the directories that the options name.
ProgramCheck check_program(const Options& options, const std::vector<std::string>& environment);

}  // namespace rota::launcher
