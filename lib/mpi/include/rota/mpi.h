// Makes communicators over MPI, in a program that uses MPI itself. Compile this header with the
// mpi.h of the program's MPI, and link the target rota::mpi.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include <rota/mpi_calls.h>

// Each MPI has its own library of rota. If a program is linked with that of another MPI, this name
// is missing.
#if defined(OPEN_MPI)
#define ROTA_MPI_CALLS rota_calls_of_openmpi
#elif defined(MPICH_VERSION)
#define ROTA_MPI_CALLS rota_calls_of_mpich
#else
#define ROTA_MPI_CALLS rota_calls_of_mpi
#endif
extern "C" ROTA_EXPORT const rota::mpi::Calls* ROTA_MPI_CALLS() noexcept;

namespace rota::mpi {

// Returns an MPI_Comm or an MPI_Request as a number. In some MPIs these types are pointers.
template <class Object>
Handle handle_of(Object object) noexcept {
  static_assert(sizeof(Object) <= sizeof(Handle));  // NOLINT: an Object may be a pointer.
  Handle handle = 0;
  std::memcpy(&handle, &object, sizeof(Object));  // NOLINT: an Object may be a pointer.
  return handle;
}

// Returns a Communicator of the ranks of `comm`, in their order. All of its messages go over MPI,
// over a duplicate of `comm`. Collective: every rank of `comm` must call it, with equal options. A
// program may make several communicators over one MPI_Comm, each rank in the same order. Of the
// options, `rendezvous_fd`, `by_hand` and `one_of_several` have no effect. The coordinator, which
// tells the ranks about failures, is in the process of rank 0. The other ranks connect to it: over
// a local socket if all ranks are on one machine, else over TCP, at any address of rank 0's
// machine, and at a port of CommunicatorOptions::ports. The job's key travels over MPI, without
// encryption.
//
// Call it after MPI_Init, and destroy the Communicator before MPI_Finalize; the program itself
// makes both calls. Destruction calls MPI_Comm_free, so it is collective, too: every rank must
// destroy its Communicators, and the groups split off from them, in the same order. With Open MPI
// and MPICH, it waits for no other rank. No Request may be pending when the program calls
// MPI_Finalize. The level of MPI_Init_thread says which threads may use such Communicators:
//   MPI_THREAD_MULTIPLE: any, as with other Communicators;
//   MPI_THREAD_SERIALIZED: any. rota lets only one thread at a time into MPI, but does not see the
//     program's own calls of MPI: no thread may call MPI while another calls rota;
//   MPI_THREAD_FUNNELED, MPI_THREAD_SINGLE: only the thread that initialised MPI.
// Only at MPI_THREAD_MULTIPLE does a thread of rota call MPI. At the other levels, data moves only
// in calls of the program, such as Request::wait and Request::test, and a Checkpointer saves
// without a thread: training waits until each checkpoint is written.
//
// If a call fails, MPI may still use its buffer: the text of the Error says so, and then the buffer
// must not be freed before the process ends. Throws what Communicator's constructor throws, and
// Error kInvalidArgument if MPI is not initialised or has ended, if this thread may not call MPI,
// if `comm` is MPI_COMM_NULL or an intercommunicator, or with `encrypt`.
inline Communicator communicator(MPI_Comm comm,
                                 const CommunicatorOptions& options = CommunicatorOptions()) {
  return communicator_over(*ROTA_MPI_CALLS(), handle_of(comm), options);
}

// Returns a Communicator for each of `count` threads of this process, as Communicator::for_threads
// does. The processes are those of `comm`. Requires MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE
// if `count` is larger than 1. Throws what communicator() throws, and Error kInvalidArgument for
// the plan "mpi", because MPI's collectives do not know threads as ranks.
inline std::vector<Communicator> for_threads(
    MPI_Comm comm, std::size_t count, const CommunicatorOptions& options = CommunicatorOptions()) {
  return communicators_over(*ROTA_MPI_CALLS(), handle_of(comm), count, options);
}

}  // namespace rota::mpi
