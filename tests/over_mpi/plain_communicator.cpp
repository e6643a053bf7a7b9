// A program that initialises MPI, and then makes a rota::Communicator that does not know of it. A
// server of PMIx serves both. A server of PMI-1 serves only MPI: rota refuses, and MPI works on.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include <rota/communicator.h>
#include <rota/error.h>

namespace {

bool has_sum_of_all_ranks() {
  rota::Communicator world;
  std::vector<float> values(1009, 1);
  world.all_reduce(values, rota::ReduceOp::kSum);
  return values[1008] == 2;
}

bool is_as_promised() {
#if defined(OPEN_MPI)
  return has_sum_of_all_ranks();
#else
  try {
    has_sum_of_all_ranks();
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    const std::string_view text = error.what();
    return error.code() == rota::ErrorCode::kInvalidArgument &&
           text.find("rota::mpi::communicator") != std::string_view::npos;
  }
  return false;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool is_right = is_as_promised();
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return is_right && sum == 2 ? 0 : 1;
}
