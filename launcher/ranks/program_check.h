// Checks programs and folders before anything starts, so that a mistake ends rotarun immediately
// with a complaint and an exit code.
#pragma once
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/mpi/mpi_plan.h"
#include "launcher/ranks/rank_environment.h"

namespace rota::launcher {

struct ProgramCheck {
  std::vector<std::string> program_paths;  // Programs to run, by group.
  std::vector<MpiKind> mpi;                // By group: the MPI that rotarun serves to its ranks.
  // By group: rota's library for the MPI over which messages go; empty: they go over no MPI.
  std::vector<std::string> mpi_libraries;
  std::vector<std::string> why_mpi;  // By group: a sentence about its MPI.
  std::vector<std::string> warnings;
  int exit_code = 0;  // Not 0: the job cannot start; complaint says why.
  std::string complaint;
  bool is_of_mpi = false;  // The job cannot start because of the MPI of a program.
};

// Looks for each program as a rank would, and looks at the folders that the options name. Decides
// which MPI each program has. `view`: what MPI knows without rotarun.
ProgramCheck check_program(const Options& options, const std::vector<std::string>& environment,
                           MpiView view);

}  // namespace rota::launcher
