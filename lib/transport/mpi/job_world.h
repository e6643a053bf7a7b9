// Makes the MPI world of a rank whose launcher has chosen the transport `mpi`. The program need not
// know MPI: this file opens and initialises MPI, and ends MPI with the process.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "transport/fabric.h"
#include "transport/mpi/world.h"

namespace rota::transport::mpi {

// Opens rota's library for an MPI, such as librota_mpi_openmpi.so, and through it the MPI. Must be
// called before join(). The first library stays open; further calls have no effect. Throws Error
// kInvalidArgument if `path` is empty or is no such library, and if its table of MPI functions has
// another version.
void open_library(const std::string& path);

// Where a rank is in its job. MPI must say the same.
struct Place {
  std::size_t rank = 0;
  std::size_t world_size = 1;
};

// Makes the world of MPI_COMM_WORLD. Initialises MPI, unless the program has done so, and then ends
// MPI when the process exits with 0, unless messages may be left that nobody receives. Throws Error
// kMismatch if MPI says another place, kInvalidArgument if the program has ended MPI, kSystem, and
// what `look_around` throws.
std::shared_ptr<World> make_job_world(const Calls& calls, const Place& place,
                                      const std::function<void()>& look_around,
                                      base::TimePoint deadline);

// Makes the first transport of a rank, over the world of MPI_COMM_WORLD. Throws what
// make_job_world() throws.
std::unique_ptr<transport::Transport> join(const GroupShape& shape, Descriptors descriptors,
                                           const CallTerms& terms, base::TimePoint deadline);

// Returns the world that join() has made.
std::shared_ptr<World> job_world() noexcept;

}  // namespace rota::transport::mpi
