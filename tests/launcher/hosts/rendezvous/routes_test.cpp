// Tests through which of its children a host reaches each rank.
#include "launcher/hosts/rendezvous/routes.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

// One rank on each of 70 hosts. Hosts 1 to 32 connect to host 0, hosts 33 to 64 to host 1, and
// hosts 65 to 69 to host 2.
class RoutesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    host_plan_.host_count = 70;
    host_plan_.is_tree = true;
    host_plan_.cluster.hosts.resize(70);
    for (std::size_t host = 0; host < 70; ++host) {
      const HostAssignment assignment{
          .ranks = {host}, .groups = {0}, .world_size = 70, .host_index = host, .host_count = 70};
      assignments_.push_back({host, encode(assignment)});
    }
  }

  HostPlan host_plan_;
  std::vector<HostText> assignments_;
};

TEST_F(RoutesTest, DealSharesOutToThoseOnTheWay) {
  Routes leader(host_plan_, 0);
  auto by_child = leader.assign(assignments_);
  EXPECT_EQ(by_child.size(), 32U);
  EXPECT_EQ(by_child[1].size(), 33U);
  EXPECT_EQ(by_child[2].size(), 6U);
  EXPECT_EQ(by_child[3].size(), 1U);
  EXPECT_EQ(leader.world_size(), 70U);

  Routes relay(host_plan_, 2);
  auto below = relay.assign(by_child[2]);
  EXPECT_EQ(below.size(), 5U);
  EXPECT_EQ(below[69], (std::vector<HostText>{assignments_[69]}));
  EXPECT_EQ(relay.rank_count(2), 1U);
  EXPECT_EQ(relay.rank_count(3), 0U);
}

TEST_F(RoutesTest, LeadToARank) {
  Routes leader(host_plan_, 0);
  leader.assign(assignments_);
  EXPECT_EQ(leader.child_toward_rank(64), 1U);
  EXPECT_EQ(leader.child_toward_rank(65), 2U);
  EXPECT_EQ(leader.child_toward_rank(0), std::nullopt);
  EXPECT_EQ(leader.child_toward_rank(70), std::nullopt);
  EXPECT_EQ(leader.host_of(65), 65U);
}

TEST_F(RoutesTest, KnowWhoMaySpeakForARank) {
  Routes leader(host_plan_, 0);
  leader.assign(assignments_);
  EXPECT_TRUE(leader.has_rank(1, 64));
  EXPECT_FALSE(leader.has_rank(2, 64));
  EXPECT_FALSE(leader.has_rank(1, 70));
}

TEST_F(RoutesTest, KnowWhatIsLostWithAHost) {
  Routes leader(host_plan_, 0);
  leader.assign(assignments_);
  EXPECT_EQ(leader.ranks_of(2), (std::vector<std::size_t>{2, 65, 66, 67, 68, 69}));
  EXPECT_EQ(leader.ranks_of(69), (std::vector<std::size_t>{69}));
}

TEST_F(RoutesTest, TakeNothingThatIsNotBelow) {
  Routes relay(host_plan_, 2);
  EXPECT_EQ(
      relay
          .assign(
              {assignments_[3], assignments_[66], {900, assignments_[67].text}, {67, "nonsense"}})
          .size(),
      1U);
  EXPECT_EQ(relay.ranks_of(2), (std::vector<std::size_t>{66}));
}

}  // namespace
}  // namespace rota::launcher
