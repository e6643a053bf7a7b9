// Trains the network in one process.
#include <cstdio>

#include "network.h"

int main() {
  const std::vector<Point> points = draw_points(1000);
  Network network;
  Network gradient;
  network.draw(2);
  for (int step = 0; step < 400; ++step) {
    gradient.clear();
    for (const Point& point : points) {
      network.backward(point, gradient);
    }
    network.descend(gradient, 2 / static_cast<double>(points.size()));
  }
  std::printf("%zu of %zu correct\n", network.count_correct(points), points.size());
}
