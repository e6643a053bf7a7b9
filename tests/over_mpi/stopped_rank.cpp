// A program of two ranks, of which rank 1 is stopped in the middle. MPI does not show that. At its
// deadline, the call of rank 0 names rank 1. Then rank 0 ends rank 1, as a person would, and the
// program ends with MPI_Abort.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <vector>

#include <rota/error.h>

namespace {

bool is_told_who_is_missing(rota::Communicator& world) {
  std::vector<float> values(1009, 1);
  try {
    world.all_reduce(values, rota::ReduceOp::kSum);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == rota::ErrorCode::kTimeout && error.blamed_rank() == std::size_t{1};
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rota::CommunicatorOptions options;
  options.deadline = std::chrono::seconds(2);
  rota::Communicator world = rota::mpi::communicator(MPI_COMM_WORLD, options);
  int process = ::getpid();
  if (world.rank() == 1) {
    MPI_Send(&process, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    ::kill(process, SIGSTOP);
    return 1;
  }
  MPI_Recv(&process, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is_told_who_is_missing(world)) std::ofstream(argv[1]) << "the stopped rank was named\n";
  ::kill(process, SIGKILL);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
