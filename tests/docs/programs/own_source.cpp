// Adds up squares in a loop of its own. A thread gathers each batch while an earlier one is added.
#include <rota/communicator.h>
#include <rota/prefetch.h>
#include <rota/sampler.h>

#include <cstdio>
#include <vector>

using Numbers = std::vector<double>;

Numbers squares_of(const rota::SampleRun& run) {
  Numbers squares;
  for (const std::uint64_t sample : run.samples) {
    squares.push_back(static_cast<double>(sample * sample));
  }
  return squares;
}

int main() {
  rota::Communicator ranks;
  const rota::SampleSource<Numbers> source = {1000, "squares", squares_of};
  rota::ShardedSampler sampler({.sample_count = source.count,
                                .batch_size = 50,
                                .rank = ranks.rank(),
                                .world_size = ranks.world_size(),
                                .seed = 1});
  sampler.shuffle(1);
  rota::Prefetch<Numbers> batches(source, 2);
  Numbers sum = {0};
  batches.ask({.samples = sampler.batch(0)});
  for (std::size_t step = 0; step < sampler.step_count(); ++step) {
    if (step + 1 < sampler.step_count()) batches.ask({.samples = sampler.batch(step + 1)});
    for (const double square : batches.next()) sum[0] += square;
  }
  ranks.all_reduce(sum, rota::ReduceOp::kSum);
  if (ranks.rank() == 0) std::printf("the sum of %zu squares is %.0f\n", source.count, sum[0]);
}
