// Every rank throws its share of the darts, and all ranks add up the hits.
#include <rota/communicator.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <random>

int main() {
  constexpr std::size_t kDarts = 1'000'000;
  rota::Communicator ranks;
  const rota::Slice share = rota::slice_of(kDarts, ranks.rank(), ranks.world_size());
  std::mt19937_64 random(ranks.rank());
  std::uniform_real_distribution<double> side(0, 1);
  std::array<std::int64_t, 1> hits{};
  for (std::size_t dart = 0; dart < share.count; ++dart) {
    const double x = side(random);
    const double y = side(random);
    if (x * x + y * y < 1) ++hits[0];
  }
  ranks.all_reduce(hits, rota::ReduceOp::kSum);
  if (ranks.rank() > 0) return 0;
  const double pi = 4 * static_cast<double>(hits[0]) / static_cast<double>(kDarts);
  std::printf("world of %zu: pi is about %.1f\n", ranks.world_size(), pi);
}
