// Who calls whom: everybody one host, nobody more than 32, and all ways lead to the leader.
#include "launcher/hosts/meet/tree.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

Meeting meeting_of(std::size_t host_count, bool is_tree) {
  Meeting meeting{.host_count = host_count, .is_tree = is_tree};
  meeting.cluster.hosts.resize(host_count);
  return meeting;
}

TEST(Tree, IsAStarWhereNothingElseIsSaid) {
  const Meeting meeting = meeting_of(100, false);
  EXPECT_EQ(parent_of(meeting, 99), 0U);
  EXPECT_EQ(children_of(meeting, 0).size(), 99U);
  EXPECT_TRUE(children_of(meeting, 1).empty());
}

TEST(Tree, HasNobodyCalledByMoreThan32) {
  for (const std::size_t host_count : {1U, 2U, 33U, 34U, 65U, 1000U, 1057U, 1058U, 10'000U}) {
    const Meeting meeting = meeting_of(host_count, true);
    std::vector<int> calls(host_count);
    for (std::size_t host = 0; host < host_count; ++host) {
      const std::vector<std::size_t> children = children_of(meeting, host);
      ASSERT_LE(children.size(), kMostChildren);
      for (const std::size_t child : children) {
        ASSERT_EQ(parent_of(meeting, child), host);
        ++calls[child];
      }
    }
    EXPECT_EQ(calls[0], 0);
    for (std::size_t host = 1; host < host_count; ++host) ASSERT_EQ(calls[host], 1) << host;
    EXPECT_EQ(branch_of(meeting, 0).size(), host_count);
  }
}

TEST(Tree, KnowsTheWayToAHost) {
  const Meeting meeting = meeting_of(2000, true);
  EXPECT_EQ(parent_of(meeting, 33), 1U);
  EXPECT_EQ(parent_of(meeting, 1057), 33U);
  EXPECT_TRUE(is_below(meeting, 1057, 33));
  EXPECT_TRUE(is_below(meeting, 1057, 1));
  EXPECT_TRUE(is_below(meeting, 1057, 0));
  EXPECT_FALSE(is_below(meeting, 1057, 2));
  EXPECT_FALSE(is_below(meeting, 33, 33));
  EXPECT_EQ(child_toward(meeting, 0, 1057), 1U);
  EXPECT_EQ(child_toward(meeting, 1, 1057), 33U);
  EXPECT_EQ(child_toward(meeting, 33, 1057), 1057U);
}

TEST(Tree, HasThoseOutsideOfTheRingCallTheLeader) {
  Meeting meeting = meeting_of(40, true);
  meeting.cluster.hosts.resize(42);
  EXPECT_EQ(parent_of(meeting, 41), 0U);
  EXPECT_EQ(children_of(meeting, 0).back(), 41U);
  EXPECT_EQ(children_of(meeting, 0).size(), kMostChildren + 2);
}

TEST(Tree, HasALeaderThatIsNoneOfTheHosts) {
  Meeting meeting = meeting_of(40, false);
  meeting.own_host = meeting.leader_host = 40;
  EXPECT_EQ(parent_of(meeting, 0), 40U);
  EXPECT_EQ(children_of(meeting, 40).size(), 40U);
  EXPECT_TRUE(is_below(meeting, 0, 40));
}

}  // namespace
}  // namespace rota::launcher
