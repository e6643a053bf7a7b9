// Measures all-reduces of two kinds in one MPI program: rota's plans over MPI's messages, beside
// MPI_Allreduce and rota's own TCP; and MPI's collectives as operations of rota, beside the same
// calls by hand. The program is built once for Open MPI and once for MPICH. rotarun starts it.
//
// usage: over_mpi [ROUNDS [SHARE]]
// Method: in a round, each way makes its calls one after another, and the ranks meet in between.
// Each round begins with the next way. So no effect of the order always hits the same way. Two of
// the ways are the same loop by hand: their ratio shows by how much figures differ by chance. A
// third loop by hand tests as seldom as rota does. Rank 0 prints the median of the rounds for each
// way, as seconds per call. SHARE divides the calls of a round, since a slow network needs fewer of
// them.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "communicator/backoff.h"
#include "row.h"
#include "statistics.h"

namespace rota::bench {
namespace {

struct Way {
  std::string name;
  std::function<void()> call;
  std::vector<double> times{};  // Of each round, in seconds per call.
};

CommunicatorOptions options_of_plan(const char* plan) {
  CommunicatorOptions options;
  options.plan = plan;
  return options;
}

void measure(std::vector<Way>& ways, int rounds, int calls) {
  for (int round = -1; round < rounds; ++round) {  // The first round warms up.
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      Way& way = ways[(static_cast<std::size_t>(round + 1) + turn) % ways.size()];
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      for (int i = 0; i < calls; ++i) way.call();
      const double own = (MPI_Wtime() - begin) / calls;
      double longest = 0;
      MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (round >= 0) way.times.push_back(longest);
    }
  }
}

void print(std::vector<Way>& ways, const std::string& size) {
  for (Way& way : ways) print_row(way.name + " " + size, median(way.times));
}

// Calls MPI_Iallreduce, and MPI_Test until it has ended. Calls `wait` between the tests.
template <class Wait>
void all_reduce_by_hand(std::vector<float>& values, Wait wait) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                 MPI_COMM_WORLD, &request);
  for (int is_done = 0; is_done == 0;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done == 0) wait();
  }
}

void all_reduce_at_once(std::vector<float>& values) {
  all_reduce_by_hand(values, [] {});
}

// Spins, yields and looks at the clock between its tests as rota does.
void all_reduce_with_waits(std::vector<float>& values) {
  Backoff backoff(Backoff::Mode::kSpin, Backoff::kOnLibraries);
  all_reduce_by_hand(values, [&] { backoff.idle(); });
}

// rotarun has started the ranks, with TCP as the transport of `tcp`.
void run(int rank, int rounds, int share) {
  Communicator plans = mpi::communicator(MPI_COMM_WORLD, options_of_plan("auto"));
  Communicator own = mpi::communicator(MPI_COMM_WORLD, options_of_plan("mpi"));
  Communicator tcp(CommunicatorOptions::from_environment());
  const auto measure_size = [&](std::size_t bytes, const std::string& size, int calls) {
    std::vector<float> values(bytes / sizeof(float));
    const auto blocking = [&] {
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
    };
    std::vector<Way> ways = {
        {"plans over MPI", [&] { plans.all_reduce(values, ReduceOp::kSum); }},
        {"MPI_Allreduce", blocking},
        {"rota over TCP", [&] { tcp.all_reduce(values, ReduceOp::kSum); }},
        {"MPI_Iallreduce by rota", [&] { own.all_reduce(values, ReduceOp::kSum); }},
        {"MPI_Iallreduce by hand", [&] { all_reduce_at_once(values); }},
        {"MPI_Iallreduce by hand again", [&] { all_reduce_at_once(values); }},
        {"MPI_Iallreduce with waits", [&] { all_reduce_with_waits(values); }}};
    measure(ways, rounds, std::max(calls / share, 1));
    if (rank == 0) print(ways, size);
  };
  measure_size(4, "4 B", 2000);
  measure_size(std::size_t{64} << 10, "64 KiB", 400);
  measure_size(std::size_t{1} << 20, "1 MiB", 40);
  measure_size(std::size_t{16} << 20, "16 MiB", 4);
}

}  // namespace
}  // namespace rota::bench

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rota::bench::run(rank, argc > 1 ? std::atoi(argv[1]) : 15, argc > 2 ? std::atoi(argv[2]) : 1);
  MPI_Finalize();
}
