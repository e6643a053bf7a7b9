// Runs the tests of a program over MPI. main LEVEL PLAN WORLD_SIZE: MPI is initialised with the
// thread level LEVEL, and collectives use the plan PLAN.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <gtest/gtest.h>
#include <rota/mpi.h>

#include <cstdlib>
#include <string_view>

#include "ranks/ranks.h"

namespace {

int level_named(std::string_view name) {
  if (name == "multiple") return MPI_THREAD_MULTIPLE;
  if (name == "serialized") return MPI_THREAD_SERIALIZED;
  return name == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 4) return 2;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, level_named(argv[1]), &level);
  int exit_code = 1;
  {
    rota::CommunicatorOptions options;
    options.plan = argv[2];
    options.deadline = std::chrono::seconds(20);
    rota::Communicator communicator = rota::mpi::communicator(MPI_COMM_WORLD, options);
    exit_code = rota::run_tests_over(communicator, std::strtoul(argv[3], nullptr, 10));
  }
  MPI_Finalize();
  return exit_code;
}
