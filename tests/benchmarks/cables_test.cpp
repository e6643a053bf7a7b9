// Tests how long bytes keep the busiest cable busy. Method: a byte takes one second, and nothing
// else takes time.
#include "predict/cables.h"

#include <gtest/gtest.h>

#include <vector>

#include "predict/world.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

double cable_seconds(const WorldShape& shape, const std::vector<Call>& calls) {
  WorldModel costs;
  costs.between_hosts.seconds_per_byte = 1;
  return busiest_cable_seconds(model_of(shape, costs), calls);
}

TEST(BusiestCable, CarriesWhatARankOfARingSends) {
  EXPECT_EQ(cable_seconds({.host_count = 4}, {{Algorithm::kRing, 256}}), 2 * 3 * 256);
}

TEST(BusiestCable, IsOneDirectionOfThatOfTheServerOfAStar) {
  EXPECT_EQ(cable_seconds({.host_count = 64}, {{Algorithm::kStar, 256}}), 63 * 1024);
}

TEST(BusiestCable, CarriesNoMessagesWithinAHost) {
  EXPECT_EQ(cable_seconds({.host_count = 1, .ranks_per_host = 4}, {{Algorithm::kRing, 256}}), 0);
  // Each rank sends two chunks of 64 bytes to the other host, and later two sums.
  EXPECT_EQ(cable_seconds({.host_count = 2, .ranks_per_host = 2}, {{Algorithm::kDirect, 64}}), 512);
}

TEST(BusiestCable, CarriesAllCalls) {
  EXPECT_EQ(cable_seconds({.host_count = 4}, {{Algorithm::kRing, 256}, {Algorithm::kRing, 512}}),
            2 * 3 * 768);
}

}  // namespace
}  // namespace rota::bench
