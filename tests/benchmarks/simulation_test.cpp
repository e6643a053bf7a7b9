// Tests the simulation of plans: ranks that share a cable take turns, and the order of the
// simulated steps does not depend on the size of the world.
#include <gtest/gtest.h>

#include "predict/prediction.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

// Returns a model in which each host has `ranks_per_host` ranks. All costs are zero.
WorldModel uniform_hosts(std::size_t host_count, std::size_t ranks_per_host) {
  WorldModel model;
  for (std::size_t rank = 0; rank < host_count * ranks_per_host; ++rank) {
    model.hosts.push_back(rank / ranks_per_host * ranks_per_host);
  }
  return model;
}

// Each host sends four chunks of 64 bytes in the first half, and four in the second half.
TEST(Simulation, LetsRanksOfAHostTakeTurnsAtItsCable) {
  WorldModel model = uniform_hosts(2, 2);
  model.between_hosts.seconds_per_byte = 1;
  EXPECT_EQ(predict(model, Algorithm::kDirect, 256), 512);
}

// While a rank adds, the other rank of its host uses the cable. So the additions hide.
TEST(Simulation, LetsARankUseTheCableWhileAnotherRankAdds) {
  WorldModel model = uniform_hosts(2, 2);
  model.between_hosts.seconds_per_byte = 1;
  const double bare = predict(model, Algorithm::kDirect, 4 << 10);
  model.reduce_seconds_per_byte = 0.01;
  const double with_additions = predict(model, Algorithm::kDirect, 4 << 10);
  EXPECT_GE(with_additions, bare);
  EXPECT_LT(with_additions, bare + 3 * 0.01 * (4 << 10));
}

TEST(Simulation, OfALargeWorldHasAsManyHopsAsThePlan) {
  WorldModel model = uniform_hosts(64, 1);
  model.between_hosts.latency_seconds = 1;
  constexpr std::size_t kBytes = 8 << 10;
  EXPECT_EQ(predict(model, Algorithm::kRing, kBytes), 126);
  EXPECT_EQ(predict(model, Algorithm::kTree, kBytes), 12);
  EXPECT_EQ(predict(model, Algorithm::kHalvingDoubling, kBytes), 12);
  EXPECT_EQ(predict(model, Algorithm::kDirect, kBytes), 2);
}

TEST(Simulation, OfALargeWorldFillsTheBusiestCable) {
  WorldModel model = uniform_hosts(64, 1);
  model.between_hosts.seconds_per_byte = 1;
  constexpr std::size_t kBytes = 8 << 10;
  EXPECT_EQ(predict(model, Algorithm::kRing, kBytes), 126.0 / 64 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kHalvingDoubling, kBytes), 126.0 / 64 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kStar, kBytes), 126.0 * kBytes);
}

// A message within a host ends when its receiver has taken it, which enables the sender.
TEST(Simulation, LetsASenderWithinAHostWaitForTheReceiver) {
  WorldModel model = uniform_hosts(1, 2);
  model.within_host.seconds_per_byte = 1;
  model.reduce_seconds_per_byte = 1;
  EXPECT_EQ(predict(model, Algorithm::kRing, 256), 256);
}

}  // namespace
}  // namespace rota::bench
