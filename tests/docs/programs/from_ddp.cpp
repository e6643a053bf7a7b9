// Fits a line to points by gradient descent; every rank has some of the points.
#include <rota/gradient_buckets.h>

#include <array>
#include <cstdio>
#include <vector>

int main() {
  rota::Communicator ranks;  // hvd.init(), init_process_group()
  std::vector<float> slope = {static_cast<float>(ranks.rank())};
  std::vector<float> offset = {0.5F};
  rota::broadcast_parameters(ranks, {slope, offset});  // broadcast_parameters(), DDP(model)
  const std::array<std::size_t, 2> counts = {slope.size(), offset.size()};
  rota::GradientBuckets<float> gradients(ranks, counts);  // bucket_cap_mb is an option

  const rota::Slice share = rota::slice_of(64, ranks.rank(), ranks.world_size());
  for (int step = 0; step < 500; ++step) {
    const std::span<float> slope_gradient = gradients.gradient(0);  // A view: gradients live there
    const std::span<float> offset_gradient = gradients.gradient(1);
    slope_gradient[0] = offset_gradient[0] = 0;
    gradients.begin_step(share.count);
    for (std::size_t i = share.offset; i < share.offset + share.count; ++i) {
      const float x = static_cast<float>(i) / 32 - 1;
      const float error = slope[0] * x + offset[0] - (3 * x + 2);
      slope_gradient[0] += error * x;
      offset_gradient[0] += error;
    }
    gradients.ready(1);  // The hook of a gradient that is final, last layer first.
    gradients.ready(0);
    gradients.wait();  // optimizer.synchronize(); sums, not means
    const float rate = 0.5F / static_cast<float>(gradients.world_sample_count());
    slope[0] -= rate * slope_gradient[0];
    offset[0] -= rate * offset_gradient[0];
  }
  if (ranks.rank() == 0) std::printf("y = %.2f x + %.2f\n", slope[0], offset[0]);
}
