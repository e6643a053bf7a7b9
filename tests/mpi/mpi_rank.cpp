// This is a program of MPI, as people have it: it knows nothing of rota. The first argument says
// what it does; a second one is the rank that does it.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr unsigned kLong = 60;  // Seconds; the job ends first.

int sum_of(int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Prints the rank's place, and the sum of all ranks' numbers from 1.
void say_sum(int rank, int size) {
  MPI_Comm near;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  int near_size = 0;
  MPI_Comm_size(near, &near_size);
  MPI_Comm_free(&near);
  std::printf("%d of %d, %d near, sum %d\n", rank, size, near_size, sum_of(rank + 1));
  std::fflush(stdout);
}

void spawn(char* program) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm children;
  int error = MPI_SUCCESS;
  const int result = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                    &children, &error);
  std::puts(result == MPI_SUCCESS ? "spawned" : "not spawned");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "sum";
  const int who = argc > 2 ? std::atoi(argv[2]) : -1;
  const char* own = std::getenv("ROTA_RANK");
  const bool is_chosen = own && std::atoi(own) == who;
  if (what == "stay-away" && is_chosen) ::sleep(kLong);
  if (what == "exit-first" && is_chosen) return 0;
  MPI_Init(&argc, &argv);
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (what == "spawn" && rank == 0) spawn(argv[0]);
  say_sum(rank, size);
  if (what == "abort" && is_chosen) MPI_Abort(MPI_COMM_WORLD, 42);
  if (what == "leave" && is_chosen) std::_Exit(0);
  if (what == "fail" && is_chosen) std::_Exit(3);
  if (what != "sum" && what != "spawn") sum_of(1);
  if (what == "hang" && is_chosen) ::sleep(kLong);
  MPI_Finalize();
  std::fflush(stdout);
  std::_Exit(0);  // Skips the check for leaks of the MPI.
}
