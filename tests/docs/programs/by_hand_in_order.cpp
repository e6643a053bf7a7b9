// Adds all ranks' values in the order of the ring, and compares the bits with those of all_reduce.
#include <rota/communicator.h>

#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  rota::Communicator comm;
  const std::size_t n = comm.world_size();
  const std::size_t count = 1009;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = 1.0F / static_cast<float>(3 + i + 7 * comm.rank());
  }
  std::vector<float> all(n * count);  // Rank r's values begin at r * count.
  comm.all_gather(values, all);
  comm.all_reduce(values, rota::ReduceOp::kSum);

  std::vector<float> by_hand(count);
  for (std::size_t c = 0; c < n; ++c) {
    const rota::Slice chunk = rota::chunk_of(count, c, n);
    for (std::size_t i = chunk.offset; i < chunk.offset + chunk.count; ++i) {
      by_hand[i] = all[(c + 1) % n * count + i];
      for (std::size_t hop = 2; hop <= n; ++hop) by_hand[i] += all[(c + hop) % n * count + i];
    }
  }
  const bool same = std::memcmp(by_hand.data(), values.data(), count * sizeof(float)) == 0;
  if (comm.rank() == 0) std::printf("%s bits\n", same ? "the same" : "other");
  return same ? 0 : 1;
}
