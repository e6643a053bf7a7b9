// Tests the sums of parameter servers. Only the bytes on the cables take time, so the times are
// those of the busiest cable.
#include <gtest/gtest.h>

#include "answers/stars.h"
#include "predict/simulation.h"
#include "predict/world.h"

namespace rota::bench {
namespace {

// A cable carries 64 bytes, 16 elements, in a second.
WorldModel hosts_with_slow_cables(std::size_t hosts) {
  WorldModel costs;
  costs.between_hosts.seconds_per_byte = 1.0 / 64;
  return model_of({.host_count = hosts}, costs);
}

double seconds_of_ring_on(std::size_t hosts, std::size_t count) {
  return predict(hosts_with_slow_cables(hosts), collectives::Algorithm::kRing,
                 count * sizeof(float));
}

// The server receives the values three times, and sends them three times.
TEST(Stars, WithOneServerTakeTheTimeOfItsCable) {
  EXPECT_EQ(predict_stars(hosts_with_slow_cables(4), 3, 16), 3 + 3);
}

// Each server has a half of the values. Each worker sends to another server first.
TEST(Stars, OfTwoServersShareTheValues) {
  EXPECT_EQ(predict_stars(hosts_with_slow_cables(4), 2, 32), 2 + 2);
  EXPECT_EQ(seconds_of_ring_on(2, 32), 1 + 1);
}

// A worker's cable carries all values once each way. It is the busiest one if there are more
// servers than workers.
TEST(Stars, OfManyServersTakeTheTimeOfAWorkersCable) {
  const double seconds = predict_stars(hosts_with_slow_cables(10), 2, 8 * 16);
  EXPECT_GE(seconds, 8 + 1);
  EXPECT_LE(seconds, 8 + 8);
}

TEST(Stars, Of64WorkersAnd19ServersTakeLongerThanARing) {
  constexpr std::size_t kCount = 19 * 64 * 16;
  const double whole = kCount / 16.0;  // Seconds of all values on one cable.
  const double stars = predict_stars(hosts_with_slow_cables(64 + 19), 64, kCount);
  EXPECT_NEAR(stars, 2 * whole * 64 / 19, 0.02 * stars);
  EXPECT_NEAR(seconds_of_ring_on(64, kCount), 2 * whole * 63 / 64, 0.02 * whole);
}

}  // namespace
}  // namespace rota::bench
