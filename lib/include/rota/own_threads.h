// Says whether a thread that the program has not started may call a communicator. It is for
// libraries that save or log in threads of their own, as rota's Checkpointer does.
#pragma once
#include <rota/communicator.h>
#include <rota/export.h>

namespace rota {

// Returns whether threads of rota's own may move the data of `communicator`, and of the groups that
// are split off from it. Returns false over MPI below MPI_THREAD_MULTIPLE, see <rota/mpi.h>: then
// data moves only in calls of the program. Any thread may call it. Throws Error kClosed if
// `communicator` was moved from, and kInvalidArgument in the child of a fork.
ROTA_EXPORT bool allows_own_threads(const Communicator& communicator);

}  // namespace rota
