// Checks each cell of the table in docs/reproducibility.md, over two hosts.
#include "docs/bits_of_plans.h"
#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class ReproducibilityAcrossHosts : public AcrossHosts {
 protected:
  // Returns the bits of a world with these numbers of ranks on the two hosts.
  BitsOfPlans bits_of(const std::vector<std::size_t>& slots,
                      const std::vector<std::string>& flags = {}) {
    environment_ = {"ROTA_HOSTS=" + hosts(slots)};
    std::vector<std::string> arguments = flags;
    arguments.push_back(test_path("reproducibility_ranks"));
    const auto first = start(0, arguments);
    const auto second = start(1, arguments);
    BitsOfPlans bits = bits_in(first->wait());
    EXPECT_EQ(second->wait().exit_code, 0) << second->err();
    return bits;
  }

  static BitsOfPlans bits_on_one_host(std::size_t world_size) {
    BitsOfPlans bits = bits_in(
        run_rotarun({"-np", std::to_string(world_size), test_path("reproducibility_ranks")}));
    take_shared_memory(bits);
    return bits;
  }
};

TEST_F(ReproducibilityAcrossHosts, EveryPlanKeepsItsBitsOverAnyTransport) {
  const BitsOfPlans mixed = bits_of({3, 2});
  expect_columns_of_one_world(mixed);
  EXPECT_EQ(bits_of({3, 2}, {"--transport", "tcp"}), mixed);
}

TEST_F(ReproducibilityAcrossHosts, AllButTwoLevelKeepTheirBitsOnAnyHosts) {
  const BitsOfPlans some = bits_of({3, 2});
  const BitsOfPlans others = bits_of({2, 3});
  const BitsOfPlans around = bits_of({3, 2}, {"--map-by", "node", "--rank-by", "node"});
  const BitsOfPlans one_host = bits_on_one_host(5);
  for (const BitsOfPlans& bits : {others, around, one_host}) {
    EXPECT_EQ(without_two_level(bits), without_two_level(some));
    EXPECT_NE(two_level_in(bits), two_level_in(some));
  }
}

TEST_F(ReproducibilityAcrossHosts, NoPlanKeepsItsBitsInAnotherWorld) {
  expect_other_bits_in_another_world(bits_of({1, 1}), bits_of({2, 1}));
}

}  // namespace
}  // namespace rota::testing
