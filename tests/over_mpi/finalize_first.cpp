// A program that calls MPI_Finalize before it destroys its communicator: the communicator refuses
// further calls, and its end does no harm.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include <rota/error.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rota::Communicator communicator = rota::mpi::communicator(MPI_COMM_WORLD);
  std::vector<float> values(1009, 1);
  communicator.all_reduce(values, rota::ReduceOp::kSum);
  MPI_Finalize();
  try {
    communicator.all_reduce(values, rota::ReduceOp::kSum);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    const std::string_view text = error.what();
    return text.find("MPI_Finalize was called before this communicator was closed") != text.npos
               ? 0
               : 1;
  }
  return 1;
}
