// MPICH 5 makes its ranks' shared memory under a name that follows from the name of the MPI world,
// and leaves it behind if it is killed or aborts.
#pragma once
#include <string_view>

namespace rota::launcher {

// Removes what MPICH has left in /dev/shm for an MPI world of this name. The ranks must have ended.
void remove_mpich_memory(std::string_view world_name);

}  // namespace rota::launcher
