// Tests worlds whose hosts are alike: how ranks, hosts and switches are numbered, which shapes are
// refused, and what switches, shapers and codecs cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "predict/simulation.h"
#include "predict/world.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

std::string refused_shape(const WorldShape& shape) {
  try {
    model_of(shape, {});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// Returns costs of bytes alone: a second for each byte between hosts.
WorldModel bytes_alone() {
  WorldModel costs;
  costs.between_hosts.seconds_per_byte = 1;
  return costs;
}

double seconds_of_call(const WorldModel& model, const Call& call) {
  Clock clock(model);
  simulate(model, plan_call(model, call, model.hosts.size()), clock);
  return std::ranges::max(clock.ranks);
}

TEST(World, NamesHostsAndSwitchesByTheirFirstRanks) {
  const WorldModel model =
      model_of({.host_count = 4, .ranks_per_host = 2, .hosts_per_switch = 2}, bytes_alone());
  EXPECT_EQ(model.hosts, (std::vector<std::size_t>{0, 0, 2, 2, 4, 4, 6, 6}));
  EXPECT_EQ(model.switches, (std::vector<std::size_t>{0, 0, 0, 0, 4, 4, 4, 4}));
  EXPECT_EQ(model.uplink_seconds_per_byte, 0.5);
  EXPECT_TRUE(model_of({.host_count = 4}, bytes_alone()).switches.empty());
}

TEST(World, WithoutRanksIsRefused) {
  EXPECT_EQ(refused_shape({.host_count = 0}), "a world of 0 hosts has no ranks");
  EXPECT_EQ(refused_shape({.ranks_per_host = 0}), "a world with 0 ranks on each host has no ranks");
}

TEST(World, OfMoreRanksThanCanBePredictedIsRefused) {
  EXPECT_EQ(refused_shape({.host_count = 50'000, .ranks_per_host = 2}), "");
  EXPECT_EQ(refused_shape({.host_count = 50'001, .ranks_per_host = 2}),
            "a world of 50001 hosts with 2 ranks each has too many ranks: at most 100000 can be "
            "predicted");
  EXPECT_NE(refused_shape({.host_count = ~std::size_t{0}, .ranks_per_host = ~std::size_t{0}}), "");
}

TEST(World, WhoseSwitchesAreImpossibleIsRefused) {
  EXPECT_EQ(refused_shape({.host_count = 6, .hosts_per_switch = 4}),
            "6 hosts cannot be dealt to switches of 4 hosts each");
  EXPECT_EQ(refused_shape({.host_count = 4, .oversubscription = 2}),
            "one switch has no oversubscription: name the hosts of each switch, too");
  EXPECT_EQ(refused_shape({.host_count = 4, .hosts_per_switch = 2, .oversubscription = 0.5}),
            "an oversubscription of 0.5 is not possible: it is a finite number from 1 on");
  for (const double factor : {HUGE_VAL, std::nan(""), -1.0}) {
    EXPECT_NE(refused_shape({.host_count = 4, .hosts_per_switch = 2, .oversubscription = factor}),
              "");
  }
}

// In a ring, one host of each switch sends to the other switch. At an oversubscription of 8, the
// cable between the switches is four times as slow as the cable of a host.
TEST(World, OfTwoSwitchesIsAsSlowAsTheirCable) {
  const Call call{.algorithm = Algorithm::kRing, .count = 1024};
  const double flat = seconds_of_call(model_of({.host_count = 4}, bytes_alone()), call);
  EXPECT_EQ(flat, 1.5 * 4096);
  const auto tree = [&](double factor) {
    return seconds_of_call(
        model_of({.host_count = 4, .hosts_per_switch = 2, .oversubscription = factor},
                 bytes_alone()),
        call);
  };
  EXPECT_EQ(tree(1), flat);
  EXPECT_EQ(tree(2), flat);
  EXPECT_NEAR(tree(8), 4 * flat, 0.01 * flat);
}

// Both directions of a call of two ranks fit into a burst, so no byte waits.
TEST(World, WithAShaperLetsABurstPassAtOnce) {
  WorldModel model = model_of({.host_count = 2}, bytes_alone());
  const Call call{.algorithm = Algorithm::kRing, .count = 1024};
  EXPECT_EQ(seconds_of_call(model, call), 4096);
  model.burst_bytes = 4096;
  EXPECT_EQ(seconds_of_call(model, call), 0);
  model.burst_bytes = 1024;
  EXPECT_EQ(seconds_of_call(model, call), 3072);
}

TEST(World, PaysForABurstInTheNextCall) {
  WorldModel model = model_of({.host_count = 2}, bytes_alone());
  model.burst_bytes = 4096;
  const Call call{.algorithm = Algorithm::kRing, .count = 1024};
  Clock clock(model);
  simulate(model, plan_call(model, call, model.hosts.size()), clock);
  EXPECT_EQ(clock.ranks, (std::vector<double>{0, 0}));
  simulate(model, plan_call(model, call, model.hosts.size()), clock);
  EXPECT_EQ(clock.ranks, (std::vector<double>{4096, 4096}));
  clock.ranks.assign(2, 16384);  // A pause, in which the shaper recovers.
  simulate(model, plan_call(model, call, model.hosts.size()), clock);
  EXPECT_EQ(clock.ranks, (std::vector<double>{16384, 16384}));
}

TEST(World, WithACodecSendsFewerBytes) {
  WorldModel model = model_of({.host_count = 2}, bytes_alone());
  const Call call{.algorithm = Algorithm::kRing, .count = 1024, .codec = Codec::kBfloat16};
  EXPECT_EQ(seconds_of_call(model, call), 2048);
  // Each of the two ranks encodes one half of the values, and then the sum of the second one.
  model.between_hosts.seconds_per_byte = 0;
  model.codec.encode_seconds_per_byte = 1;
  EXPECT_EQ(seconds_of_call(model, call), 4096);
}

}  // namespace
}  // namespace rota::bench
