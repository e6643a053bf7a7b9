// Tests which host connects to which: each host except the leader connects to one host, at most 32
// hosts connect to the same host, and all paths end at the leader.
#include "launcher/hosts/rendezvous/host_tree.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

HostPlan host_plan_of(std::size_t host_count, bool is_tree) {
  HostPlan host_plan{.host_count = host_count, .is_tree = is_tree};
  host_plan.cluster.hosts.resize(host_count);
  return host_plan;
}

TEST(Tree, IsAStarWhereNothingElseIsSaid) {
  const HostPlan host_plan = host_plan_of(100, false);
  EXPECT_EQ(parent_of(host_plan, 99), 0U);
  EXPECT_EQ(children_of(host_plan, 0).size(), 99U);
  EXPECT_TRUE(children_of(host_plan, 1).empty());
}

TEST(Tree, HasNobodyCalledByMoreThan32) {
  for (const std::size_t host_count : {1U, 2U, 33U, 34U, 65U, 1000U, 1057U, 1058U, 10'000U}) {
    const HostPlan host_plan = host_plan_of(host_count, true);
    std::vector<int> calls(host_count);
    for (std::size_t host = 0; host < host_count; ++host) {
      const std::vector<std::size_t> children = children_of(host_plan, host);
      ASSERT_LE(children.size(), kMostChildren);
      for (const std::size_t child : children) {
        ASSERT_EQ(parent_of(host_plan, child), host);
        ++calls[child];
      }
    }
    EXPECT_EQ(calls[0], 0);
    for (std::size_t host = 1; host < host_count; ++host) ASSERT_EQ(calls[host], 1) << host;
    EXPECT_EQ(subtree_of(host_plan, 0).size(), host_count);
  }
}

TEST(Tree, KnowsTheWayToAHost) {
  const HostPlan host_plan = host_plan_of(2000, true);
  EXPECT_EQ(parent_of(host_plan, 33), 1U);
  EXPECT_EQ(parent_of(host_plan, 1057), 33U);
  EXPECT_TRUE(is_below(host_plan, 1057, 33));
  EXPECT_TRUE(is_below(host_plan, 1057, 1));
  EXPECT_TRUE(is_below(host_plan, 1057, 0));
  EXPECT_FALSE(is_below(host_plan, 1057, 2));
  EXPECT_FALSE(is_below(host_plan, 33, 33));
  EXPECT_EQ(child_toward(host_plan, 0, 1057), 1U);
  EXPECT_EQ(child_toward(host_plan, 1, 1057), 33U);
  EXPECT_EQ(child_toward(host_plan, 33, 1057), 1057U);
}

TEST(Tree, HasThoseOutsideOfTheRingCallTheLeader) {
  HostPlan host_plan = host_plan_of(40, true);
  host_plan.cluster.hosts.resize(42);
  EXPECT_EQ(parent_of(host_plan, 41), 0U);
  EXPECT_EQ(children_of(host_plan, 0).back(), 41U);
  EXPECT_EQ(children_of(host_plan, 0).size(), kMostChildren + 2);
}

TEST(Tree, HasALeaderThatIsNoneOfTheHosts) {
  HostPlan host_plan = host_plan_of(40, false);
  host_plan.own_host = host_plan.leader_host = 40;
  EXPECT_EQ(parent_of(host_plan, 0), 40U);
  EXPECT_EQ(children_of(host_plan, 40).size(), 40U);
  EXPECT_TRUE(is_below(host_plan, 0, 40));
}

}  // namespace
}  // namespace rota::launcher
