// Starts and ends as the smallest MPI program does, to measure launchers. hello SINCE [abort]: rank
// 0 prints the time from SINCE, in seconds since 1970, until all ranks have left MPI_Init. With
// `abort`, the last rank then prints such a time too, and calls MPI_Abort with the code 42.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>
#include <cstdlib>

#include "row.h"

namespace {

double seconds_since(double begin) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const double since = std::strtod(argv[1], nullptr);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int world_size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) rota::bench::print_row("initialized", seconds_since(since));
  if (argc > 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == world_size - 1) {
      rota::bench::print_row("aborted", seconds_since(since));
      MPI_Abort(MPI_COMM_WORLD, 42);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
