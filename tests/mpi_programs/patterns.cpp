// Does what the benchmarks of OSU and of Intel do, and looks at what arrives: latency and bandwidth
// between the first and the last rank, and sweeps over the sizes of collectives. It knows nothing
// of rota. The ranks of some MPIs compute while they wait, so it makes few calls.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kMostCount = 1 << 18;  // Elements of 4 bytes.

int rank = -1;
int size = -1;

void require(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("rank %d: wrong %s\n", rank, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

bool all_are(const std::vector<int>& values, int value) {
  return std::ranges::all_of(values, [&](int each) { return each == value; });
}

void latency() {
  constexpr int kTurns = 20;
  const int other = rank == 0 ? size - 1 : 0;
  const double begin = MPI_Wtime();
  for (int turn = 0; turn < kTurns && (rank == 0 || rank == size - 1); ++turn) {
    int value = turn;
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, other, turn, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, other, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(value == turn, "latency");
    if (rank != 0) MPI_Send(&value, 1, MPI_INT, other, turn, MPI_COMM_WORLD);
  }
  if (rank == 0) std::printf("latency %.2f us\n", (MPI_Wtime() - begin) / kTurns / 2 * 1e6);
}

void bandwidth() {
  constexpr int kWindow = 16;
  constexpr int kCount = kMostCount / 4;
  const int other = rank == 0 ? size - 1 : 0;
  std::vector<std::vector<int>> messages(kWindow, std::vector<int>(kCount, rank));
  std::vector<MPI_Request> requests(kWindow);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kWindow && (rank == 0 || rank == size - 1); ++i) {
    auto& message = messages[static_cast<std::size_t>(i)];
    MPI_Request* request = &requests[static_cast<std::size_t>(i)];
    if (rank == 0) {
      MPI_Isend(message.data(), kCount, MPI_INT, other, i, MPI_COMM_WORLD, request);
    } else {
      MPI_Irecv(message.data(), kCount, MPI_INT, other, i, MPI_COMM_WORLD, request);
    }
  }
  if (rank != 0 && rank != size - 1) return;
  MPI_Waitall(kWindow, requests.data(), MPI_STATUSES_IGNORE);
  for (const auto& message : messages) require(all_are(message, 0), "bandwidth");
  const double bytes = 4.0 * kWindow * kCount;
  if (rank == 0) std::printf("bandwidth %.0f MB/s\n", bytes / (MPI_Wtime() - begin) / 1e6);
}

void sweep(int count) {
  const auto element_count = static_cast<std::size_t>(count);
  std::vector<int> own(element_count, rank + 1);
  std::vector<int> sums(element_count);
  MPI_Allreduce(own.data(), sums.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  require(all_are(sums, size * (size + 1) / 2), "MPI_Allreduce");

  std::vector<int> news(element_count, rank == size - 1 ? 5 : 0);
  MPI_Bcast(news.data(), count, MPI_INT, size - 1, MPI_COMM_WORLD);
  require(all_are(news, 5), "MPI_Bcast");

  std::vector<int> parts(element_count * static_cast<std::size_t>(size));
  MPI_Allgather(own.data(), count, MPI_INT, parts.data(), count, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    const auto begin = parts.begin() + std::ptrdiff_t{from} * count;
    require(std::all_of(begin, begin + count, [&](int each) { return each == from + 1; }),
            "MPI_Allgather");
  }

  std::vector<int> received(parts.size());
  std::ranges::fill(parts, rank);
  MPI_Alltoall(parts.data(), count, MPI_INT, received.data(), count, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    require(received[static_cast<std::size_t>(from) * element_count] == from, "MPI_Alltoall");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) latency();
  if (size > 1) bandwidth();
  for (int count = 1; count <= kMostCount; count *= 64) sweep(count);
  std::printf("rank %d of %d: all right\n", rank, size);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
