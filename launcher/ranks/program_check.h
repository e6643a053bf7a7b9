// What can be found wrong before anything starts.
#pragma once
#include <string>
#include <vector>

#include "launcher/command/options.h"

namespace rota::launcher {

struct ProgramCheck {
  std::vector<std::string> program_paths;  // What to run, by group.
  std::vector<std::string> warnings;
  int exit_code = 0;  // Other than 0: the job cannot start, and why.
  std::string complaint;
  bool is_of_mpi = false;  // That is why.
};

// Looks for each program where a rank would, and at the directories that the options name.
// `hides_ranks`: MPI in a rank would not hear of the others, so that a program that needs it
// cannot start unless the options allow it.
ProgramCheck check_program(const Options& options, const std::vector<std::string>& environment,
                           bool hides_ranks);

}  // namespace rota::launcher
