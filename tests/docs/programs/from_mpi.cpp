// Rank 0 deals out numbers, every rank squares its part, rank 0 collects; then neighbours talk.
#include <rota/communicator.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  rota::Communicator world;  // MPI_Init and MPI_COMM_WORLD
  const std::size_t rank = world.rank();
  const std::size_t size = world.world_size();

  std::vector<std::int32_t> all(rank == 0 ? 3 * size : 0);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int32_t> part(3);
  world.scatter(all, part, 0);  // MPI_Scatter
  for (std::int32_t& number : part) number *= number;
  world.gather(part, all, 0);  // MPI_Gather

  std::array<std::int64_t, 1> token = {0};
  const std::size_t next = (rank + 1) % size;
  const std::size_t previous = (rank + size - 1) % size;
  if (size > 1) {
    const std::array<std::int64_t, 1> mine = {static_cast<std::int64_t>(rank)};
    rota::Request sent = world.send_async(mine, next);  // MPI_Isend; no tags
    world.receive(token, previous);                     // MPI_Recv
    sent.wait();                                        // MPI_Wait
  }

  rota::Communicator half = world.split(rank % 2);  // MPI_Comm_split
  std::array<double, 1> members = {1};
  half.reduce(members, 0, rota::ReduceOp::kSum);  // MPI_Reduce, in place
  world.barrier();                                // MPI_Barrier
  if (rank > 0) return 0;
  std::printf("last square %d, from rank %lld, %g in this half\n", all.back(),
              static_cast<long long>(token[0]), members[0]);
}  // MPI_Finalize
