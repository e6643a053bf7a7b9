// This program is a rank of an MPI world. It is compiled with an MPI, and knows nothing of rota.
// The argument says what it does:
//
//   hello            prints "RANK of SIZE"
//   number           prints "RANK is of program NUMBER", by MPI_APPNUM
//   sum              adds over all ranks by MPI_Allreduce, in short and in long messages
//   abort RANK N     that rank calls MPI_Abort with the code N; the others wait for it
//   die RANK         that rank kills itself after MPI_Init; the others wait for it
//   leave RANK       that rank exits with 0 and without MPI_Finalize; the others wait for it
//   absent RANK      that rank, by ROTA_RANK, never calls MPI_Init, and sleeps
//   stay             prints "RANK stays" after MPI_Init, and sleeps
//   twice            calls MPI_Finalize twice
//   spawn            asks for another process, which must be refused
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int number_at(int argc, char** argv, int index) {
  return index < argc ? std::atoi(argv[index]) : -1;
}

int sum(int rank, int size) {
  for (const int count : {1, 1000, 1'000'000}) {
    std::vector<double> values(static_cast<std::size_t>(count), rank + 1);
    std::vector<double> sums(values.size());
    MPI_Allreduce(values.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (const double each : sums) {
      if (each != size * (size + 1) / 2) return 1;
    }
  }
  std::printf("%d of %d: sum %d\n", rank, size, size * (size + 1) / 2);
  return 0;
}

void say_number(int rank) {
  const int* number = nullptr;
  int has_one = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &has_one);
  std::printf("%d is of program %d\n", rank, has_one != 0 ? *number : -1);
}

void spawn() {
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char program[] = "/bin/true";
  const int code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                  &children, MPI_ERRCODES_IGNORE);
  std::printf(code == MPI_SUCCESS ? "spawned\n" : "refused\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string act = argc > 1 ? argv[1] : "hello";
  const int chosen = number_at(argc, argv, 2);
  const char* own = std::getenv("ROTA_RANK");
  if (act == "absent" && own != nullptr && std::atoi(own) == chosen) {
    ::sleep(60);
    return 0;
  }
  MPI_Init(&argc, &argv);
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 0;
  if (act == "hello") std::printf("%d of %d\n", rank, size);
  if (act == "number") say_number(rank);
  if (act == "sum") code = sum(rank, size);
  if (act == "spawn") spawn();
  if (act == "stay") {
    std::printf("%d stays\n", rank);
    std::fflush(stdout);
    ::sleep(60);
  }
  if (rank == chosen) {
    std::printf("rank %d begins to %s\n", rank, act.c_str());
    std::fflush(stdout);
    if (act == "abort") MPI_Abort(MPI_COMM_WORLD, number_at(argc, argv, 3));
    if (act == "die") ::kill(::getpid(), SIGKILL);
    if (act == "leave") std::_Exit(0);
  }
  if (act == "abort" || act == "die" || act == "leave") MPI_Barrier(MPI_COMM_WORLD);
  std::fflush(stdout);
  MPI_Finalize();
  if (act == "twice") MPI_Finalize();
  return code;
}
