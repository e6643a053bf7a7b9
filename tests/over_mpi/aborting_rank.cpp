// A program of three ranks, of which rank 1 gives up in the middle and calls abort(). The calls of
// the other ranks throw its reason, and MPI goes on carrying the program's own messages. Calls of
// MPI may be left under way, so the program ends with MPI_Abort.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include <rota/error.h>

namespace {

// Calls until the message about rank 1 comes, in the last call that rank 1 makes or in a later one.
bool is_told_who_gave_up(rota::Communicator& world, std::span<float> values) {
  try {
    for (;;) world.all_reduce(values, rota::ReduceOp::kSum);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    const std::string_view text = error.what();
    return error.code() == rota::ErrorCode::kAborted && error.blamed_rank() == std::size_t{1} &&
           text.find("the disk is full") != std::string_view::npos;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rota::CommunicatorOptions options;
  options.deadline = std::chrono::seconds(60);  // The reason must come without it.
  std::vector<float> values(100003);  // Lives until MPI_Abort, since MPI may go on using it.
  rota::Communicator world = rota::mpi::communicator(MPI_COMM_WORLD, options);
  int is_right = 0;
  if (world.rank() == 1) {
    for (int step = 0; step < 3; ++step) world.all_reduce(values, rota::ReduceOp::kSum);
    world.abort("the disk is full");
  } else {
    is_right = is_told_who_gave_up(world, values) ? 1 : 0;
  }
  if (world.rank() == 2) MPI_Send(&is_right, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (world.rank() > 0) {
    MPI_Recv(&is_right, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // Ends in MPI_Abort.
    return 1;
  }
  int is_other_right = 0;
  MPI_Recv(&is_other_right, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is_right + is_other_right == 2) std::ofstream(argv[1]) << "the aborting rank was named\n";
  MPI_Abort(MPI_COMM_WORLD, 3);
}
