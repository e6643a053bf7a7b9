// Finds what --transport mpi needs: an MPI that rotarun can serve to the ranks, and rota's library
// for it, which a rank opens. The program itself need not know MPI.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "launcher/mpi/mpi_plan.h"

namespace rota::launcher {

// Returns the path of rota's library for an MPI; empty if there is none. In the environment of the
// ranks, ROTA_MPI_LIBRARY names the library, or LD_LIBRARY_PATH its folder. Otherwise, the library
// is where librota is installed with this rotarun, or in the build folder.
std::string find_mpi_library(MpiKind kind, const std::vector<std::string>& of_ranks);

// Returns the MPI for a job whose programs and --mpi name none: the first one that rotarun can
// serve and that has a library. Returns nothing if there is none.
std::optional<MpiKind> usual_mpi(const std::vector<std::string>& of_ranks);

// Returns the MPI of the launcher that has started rotarun as one of its ranks.
MpiKind mpi_of_launcher(const std::vector<std::string>& environment);

// Returns a sentence that says which library is missing, and what to do. `kind` is empty if every
// MPI would do.
std::string why_no_mpi_library(std::optional<MpiKind> kind);

}  // namespace rota::launcher
