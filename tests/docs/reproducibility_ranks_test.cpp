// Tests each cell of the table in docs/reproducibility.md that one host can show, over shared
// memory and TCP, between real processes. reproducibility_test.cpp has the cells that a simulated
// network shows, and tests/hosts/reproducibility_hosts_test.cpp the cells that need two hosts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "docs/bits_of_plans.h"
#include "testing/paths.h"

namespace rota {
namespace {

using testing::BitsOfPlans;

BitsOfPlans bits_of(std::size_t world_size, const std::string& transport,
                    const std::string& kernels = "") {
  std::vector<std::string> command = {"-np", std::to_string(world_size), "--transport", transport,
                                      testing::test_path("reproducibility_ranks")};
  if (!kernels.empty()) command.push_back(kernels);
  return testing::bits_in(testing::run_rotarun(command));
}

TEST(ReproducibilityOfRanks, EveryPlanKeepsItsBitsOverAnyTransportAndByAnyKernels) {
  BitsOfPlans bits = bits_of(5, "shm");
  EXPECT_EQ(bits_of(5, "shm", "scalar"), bits);
  EXPECT_EQ(testing::take_shared_memory(bits), testing::ring_in(bits));
  testing::expect_columns_of_one_world(bits);
  EXPECT_EQ(bits_of(5, "tcp"), bits);
  EXPECT_EQ(bits_of(5, "tcp", "scalar"), bits);
}

TEST(ReproducibilityOfRanks, NoPlanKeepsItsBitsInAnotherWorld) {
  BitsOfPlans two = bits_of(2, "shm");
  BitsOfPlans three = bits_of(3, "shm");
  EXPECT_EQ(testing::take_shared_memory(two), testing::ring_in(two));
  EXPECT_EQ(testing::take_shared_memory(three), testing::ring_in(three));
  testing::expect_other_bits_in_another_world(two, three);
  EXPECT_EQ(bits_of(2, "tcp"), two);
  EXPECT_EQ(bits_of(3, "tcp"), three);
}

}  // namespace
}  // namespace rota
