// Trains the network on all ranks of a job, each with its share of the points.
#include <rota/gradient_buckets.h>
#include <cstdio>

#include "network.h"

int main() {
  rota::Communicator ranks;
  const std::vector<Point> points = draw_points(1000);
  const auto share = rota::slice_of(points.size(), ranks.rank(), ranks.world_size());
  const auto mine = std::span(points).subspan(share.offset, share.count);
  Network network;
  Network gradient;
  network.draw(2);
  rota::broadcast_parameters(ranks, {network.hidden, network.output});
  rota::GradientBuckets<double> buckets(ranks, {gradient.hidden, gradient.output});
  for (int step = 0; step < 400; ++step) {
    gradient.clear();
    buckets.begin_step(mine.size());
    for (const Point& point : mine) {
      network.backward(point, gradient);
    }
    buckets.ready(1);
    buckets.ready(0);
    buckets.wait();
    network.descend(gradient, 2 / static_cast<double>(buckets.world_sample_count()));
  }
  if (ranks.rank() > 0) return 0;
  std::printf("%zu of %zu correct\n", network.count_correct(points), points.size());
}
