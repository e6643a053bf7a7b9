// A program in which only rank 0 of two makes a communicator. Rank 0 gives up at its time limit and
// says what is missing, and MPI goes on carrying the program's own messages. A call of MPI is left
// under way, so the program ends with MPI_Abort.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string_view>

#include <rota/error.h>

namespace {

bool is_told_what_is_missing() {
  rota::CommunicatorOptions options;
  options.join_timeout = std::chrono::milliseconds(500);
  try {
    const rota::Communicator alone = rota::mpi::communicator(MPI_COMM_WORLD, options);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    const std::string_view text = error.what();
    return error.code() == rota::ErrorCode::kTimeout &&
           text.find("not all of its ranks have called rota::mpi::communicator in time") !=
               std::string_view::npos;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int is_right = 0;
  if (rank == 0) {
    is_right = is_told_what_is_missing() ? 1 : 0;
    MPI_Send(&is_right, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&is_right, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // Ends in MPI_Abort.
    return 1;
  }
  MPI_Recv(&is_right, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is_right == 1) std::ofstream(argv[1]) << "half of the ranks gave up in time\n";
  MPI_Abort(MPI_COMM_WORLD, 3);
}
