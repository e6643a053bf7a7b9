// Tests which part of a job a host runs.
#include "launcher/plan/host_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<Group> kOneProgram(1);

Layout uneven(RankBy rank_by) {
  return lay_out({{"a", 3}, {"b", 0}, {"c", 1}, {"d", 2}}, {.rank_by = rank_by});
}

TEST(HostShare, HasTheRanksOfItsHostOneAfterTheOther) {
  const Layout layout = uneven(RankBy::kSlot);
  EXPECT_THAT(assignment_of(layout, 0, kOneProgram, "tcp").ranks, ElementsAre(0, 1, 2));
  EXPECT_THAT(assignment_of(layout, 1, kOneProgram, "tcp").ranks, IsEmpty());
  EXPECT_THAT(assignment_of(layout, 2, kOneProgram, "tcp").ranks, ElementsAre(3));
  EXPECT_THAT(assignment_of(layout, 3, kOneProgram, "tcp").ranks, ElementsAre(4, 5));
}

TEST(HostShare, HasTheRanksOfItsHostWhereTheyAreNumberedByNode) {
  const Layout layout = uneven(RankBy::kNode);
  EXPECT_THAT(assignment_of(layout, 0, kOneProgram, "tcp").ranks, ElementsAre(0, 3, 5));
  EXPECT_THAT(assignment_of(layout, 1, kOneProgram, "tcp").ranks, IsEmpty());
  EXPECT_THAT(assignment_of(layout, 2, kOneProgram, "tcp").ranks, ElementsAre(1));
  EXPECT_THAT(assignment_of(layout, 3, kOneProgram, "tcp").ranks, ElementsAre(2, 4));
}

TEST(HostShare, KnowsTheWholeJob) {
  for (std::size_t host = 0; host < 4; ++host) {
    const HostAssignment assignment =
        assignment_of(uneven(RankBy::kSlot), host, kOneProgram, "tcp");
    EXPECT_EQ(assignment.world_size, 6U);
    EXPECT_EQ(assignment.host_index, host);
    EXPECT_EQ(assignment.host_count, 4U);
    EXPECT_THAT(assignment.places, IsEmpty());
  }
}

// In every layout, each rank is on exactly one host, at the place that the layout gives the rank.
TEST(HostShare, LeavesNoRankOutAndGivesNoneTwice) {
  for (const RankBy rank_by : {RankBy::kSlot, RankBy::kNode}) {
    for (const MapBy map_by : {MapBy::kSlot, MapBy::kNode}) {
      const Layout layout =
          lay_out({{"a", 2}, {"b", 5}, {"c", 1}},
                  {.rank_count = 13, .map_by = map_by, .rank_by = rank_by, .oversubscribe = true});
      std::vector<int> counts(13);
      for (std::size_t host = 0; host < 3; ++host) {
        const HostAssignment assignment = assignment_of(layout, host, kOneProgram, "tcp");
        ASSERT_EQ(assignment.ranks.size(), layout.host_rank_counts[host]);
        for (std::size_t local = 0; local < assignment.ranks.size(); ++local) {
          ++counts[assignment.ranks[local]];
          EXPECT_EQ(layout.places[assignment.ranks[local]].host, host);
          EXPECT_EQ(layout.places[assignment.ranks[local]].local_rank, local);
        }
      }
      EXPECT_THAT(counts, ::testing::Each(1));
    }
  }
}

// Ranks 0 to 2 run the first program, 3 and 4 the third, and 5 the last.
TEST(HostShare, KnowsWhoseProgramEachRankRuns) {
  const std::vector<Group> groups = {
      {.count = 3}, {.is_evaluator = true}, {.count = 2}, {.count = 1}};
  const Layout by_slot = uneven(RankBy::kSlot);
  EXPECT_THAT(assignment_of(by_slot, 0, groups, "tcp").groups, ElementsAre(0, 0, 0));
  EXPECT_THAT(assignment_of(by_slot, 2, groups, "tcp").groups, ElementsAre(2));
  EXPECT_THAT(assignment_of(by_slot, 3, groups, "tcp").groups, ElementsAre(2, 3));
  const Layout by_node = uneven(RankBy::kNode);
  EXPECT_THAT(assignment_of(by_node, 0, groups, "tcp").groups, ElementsAre(0, 2, 3));
  EXPECT_THAT(assignment_of(by_node, 3, groups, "tcp").groups, ElementsAre(0, 2));
}

TEST(HostShare, DescribesWhatEachRankIsBoundTo) {
  const HostAssignment assignment{
      .ranks = {1, 4, 7}, .places = {{2}, {0, 1, 2, 8}, {}}, .world_size = 8};
  EXPECT_THAT(describe_bindings(assignment, "b"),
              ElementsAre("rank 1 on b: bound to CPU 2", "rank 4 on b: bound to CPUs 0-2,8",
                          "rank 7 on b: not bound"));
  EXPECT_THAT(describe_bindings(HostAssignment{}, "b"), IsEmpty());
}

}  // namespace
}  // namespace rota::launcher
