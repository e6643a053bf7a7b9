// Tests which ranks run on which hosts, and the messages if ranks cannot be placed.
#include "launcher/plan/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<HostSlots> hosts_of(const std::vector<std::size_t>& slot_counts) {
  std::vector<HostSlots> hosts;
  hosts.reserve(slot_counts.size());
  for (const std::size_t count : slot_counts) {
    hosts.push_back({std::string(1, static_cast<char>('a' + hosts.size())), count});
  }
  return hosts;
}

// Returns the host and the local rank of each rank, such as "a0 a1 b0".
std::string places_of(const Layout& layout) {
  std::string text;
  for (const RankPlace& place : layout.places) {
    if (!text.empty()) text += ' ';
    text += static_cast<char>('a' + place.host);
    text += std::to_string(place.local_rank);
  }
  return text;
}

std::string refusal_of(const std::vector<std::size_t>& slot_counts, const LayoutRules& rules) {
  try {
    return "accepted: " + places_of(lay_out(hosts_of(slot_counts), rules));
  } catch (const UsageError& error) {
    return error.what();
  }
}

constexpr LayoutRules kByNode{.map_by = MapBy::kNode};

LayoutRules ppr(std::size_t count) {
  return {.map_by = MapBy::kFixedPerNode, .ranks_per_node = count};
}

LayoutRules with(LayoutRules rules, std::size_t rank_count) {
  rules.rank_count = rank_count;
  return rules;
}

LayoutRules numbered_by_node(LayoutRules rules) {
  rules.rank_by = RankBy::kNode;
  return rules;
}

LayoutRules oversubscribed(LayoutRules rules) {
  rules.oversubscribe = true;
  return rules;
}

TEST(Layout, FollowsTheTable) {
  struct Row {
    std::vector<std::size_t> slot_counts;
    LayoutRules rules;
    const char* places;
  };
  const std::vector<Row> rows = {
      {{2}, {}, "a0 a1"},
      {{2}, with({}, 1), "a0"},
      // Ranks fill one host before the next: slot by slot.
      {{3, 1, 2}, {}, "a0 a1 a2 b0 c0 c1"},
      {{3, 1, 3}, {}, "a0 a1 a2 b0 c0 c1 c2"},
      {{3, 1, 2}, with({}, 4), "a0 a1 a2 b0"},
      {{4, 4, 4}, with({}, 6), "a0 a1 a2 a3 b0 b1"},
      {{4, 4, 4}, with({}, 7), "a0 a1 a2 a3 b0 b1 b2"},
      {{3, 1, 2}, {.map_by = MapBy::kCore}, "a0 a1 a2 b0 c0 c1"},
      {{3, 1, 2}, with({.map_by = MapBy::kNuma}, 5), "a0 a1 a2 b0 c0"},
      {{2, 0, 1}, {}, "a0 a1 c0"},
      // Each host in turn gets a rank, except full hosts; ranks are still numbered host after host.
      {{4, 4, 4}, with(kByNode, 6), "a0 a1 b0 b1 c0 c1"},
      {{4, 4, 4}, with(kByNode, 7), "a0 a1 a2 b0 b1 c0 c1"},
      {{3, 1, 2}, with(kByNode, 6), "a0 a1 a2 b0 c0 c1"},
      {{5, 1, 2}, with(kByNode, 7), "a0 a1 a2 a3 b0 c0 c1"},
      {{4, 4, 4}, with(kByNode, 2), "a0 b0"},
      {{2, 1}, kByNode, "a0 a1 b0"},
      // Each host gets exactly this many ranks.
      {{4, 2, 3}, ppr(2), "a0 a1 b0 b1 c0 c1"},
      {{4, 2, 3}, with(ppr(2), 6), "a0 a1 b0 b1 c0 c1"},
      {{4}, ppr(3), "a0 a1 a2"},
      // Ranks are numbered by node: one rank on each host in turn.
      {{3, 1, 2}, numbered_by_node({}), "a0 b0 c0 a1 c1 a2"},
      {{3, 1, 3}, numbered_by_node({}), "a0 b0 c0 a1 c1 a2 c2"},
      {{4, 4, 4}, numbered_by_node(with(kByNode, 7)), "a0 b0 c0 a1 b1 c1 a2"},
      {{4, 4, 4}, numbered_by_node(with({}, 6)), "a0 b0 a1 b1 a2 a3"},
      {{4, 2, 3}, numbered_by_node(ppr(2)), "a0 b0 c0 a1 b1 c1"},
      // With more ranks than slots, all slots are given out again, from the first host on, until
      // each rank has a host. Only then are the ranks numbered, host by host.
      {{2, 1, 1}, oversubscribed(with({}, 6)), "a0 a1 a2 a3 b0 c0"},
      {{2, 1, 1}, oversubscribed(with({}, 7)), "a0 a1 a2 a3 b0 b1 c0"},
      {{2, 1, 1}, oversubscribed(with(kByNode, 6)), "a0 a1 a2 b0 b1 c0"},
      {{2, 1, 1}, oversubscribed(with(kByNode, 7)), "a0 a1 a2 b0 b1 c0 c1"},
      {{2, 1, 1}, oversubscribed(ppr(2)), "a0 a1 b0 b1 c0 c1"},
      {{1}, with({}, 3), "a0 a1 a2"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(refusal_of(row.slot_counts, row.rules), std::string("accepted: ") + row.places)
        << ::testing::PrintToString(row.slot_counts);
  }
}

TEST(Layout, CountsTheRanksOfEachHost) {
  EXPECT_THAT(lay_out(hosts_of({3, 1, 2}), with({}, 5)).host_rank_counts, ElementsAre(3, 1, 1));
  EXPECT_THAT(lay_out(hosts_of({3, 1, 2}), with({}, 2)).host_rank_counts, ElementsAre(2, 0, 0));
}

TEST(Layout, RefusesMoreRanksThanSlotsOnSeveralHosts) {
  EXPECT_EQ(refusal_of({3, 1, 2}, with({}, 7)),
            "--np 7: the 3 hosts have 6 slots: give fewer ranks, more slots, or --oversubscribe");
  EXPECT_EQ(refusal_of({4, 1, 2}, ppr(2)),
            "--map-by ppr:2:node: b has 1 slot: give fewer ranks, more slots, or --oversubscribe");
}

TEST(Layout, GivesNoHostMoreRanksThanItsMost) {
  std::vector<HostSlots> hosts = hosts_of({2, 4});
  hosts[0].most = 3;
  hosts[1].most = 2;  // The host has found four slots, and may use two.
  EXPECT_EQ(places_of(lay_out(hosts, {})), "a0 a1 b0 b1");
  EXPECT_EQ(places_of(lay_out(hosts, oversubscribed(with({}, 5)))), "a0 a1 a2 b0 b1");
  const auto refusal = [&](const LayoutRules& rules) -> std::string {
    try {
      return "accepted: " + places_of(lay_out(hosts, rules));
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(with({}, 5)),
            "--np 5: the 2 hosts have 4 slots: give fewer ranks, more slots, or --oversubscribe");
  EXPECT_EQ(refusal(oversubscribed(with({}, 6))),
            "a would have 4 ranks, but its max_slots is 3: give fewer ranks, or raise max_slots");
  EXPECT_EQ(refusal(oversubscribed(ppr(3))),
            "b would have 3 ranks, but its max_slots is 2: give fewer ranks, or raise max_slots");
  hosts.pop_back();
  EXPECT_EQ(refusal(with({}, 4)),
            "a would have 4 ranks, but its max_slots is 3: give fewer ranks, or raise max_slots");
}

TEST(Layout, RefusesACountThatIsNotWhatTheMappingMakes) {
  EXPECT_EQ(refusal_of({4, 4, 4}, with(ppr(2), 5)),
            "--np is 5, but --map-by ppr:2:node makes 6 ranks on 3 hosts: leave out the wrong one");
  EXPECT_EQ(refusal_of({4}, with(ppr(1), 2)),
            "--np is 2, but --map-by ppr:1:node makes 1 rank on 1 host: leave out the wrong one");
}

TEST(Layout, RefusesWorldsThatAreNone) {
  EXPECT_EQ(refusal_of({0, 0}, {}), "the hosts have no slots");
  EXPECT_EQ(refusal_of({0}, oversubscribed(with({}, 2))), "the hosts have no slots");
  EXPECT_EQ(refusal_of({4000, 97}, {}), "4097 ranks are too many: a job may have 4096");
  EXPECT_EQ(refusal_of({4096, 4096}, ppr(4096)), "8192 ranks are too many: a job may have 4096");
}

TEST(Layout, WarnsWhereOneHostHasMoreRanksThanSlots) {
  EXPECT_EQ(lay_out(hosts_of({2}), with({}, 3)).warning,
            "3 ranks for 2 slots: the ranks share CPUs (--oversubscribe leaves out this warning)");
  EXPECT_THAT(lay_out(hosts_of({2}), oversubscribed(with({}, 3))).warning, IsEmpty());
  EXPECT_THAT(lay_out(hosts_of({2}), with({}, 2)).warning, IsEmpty());
  EXPECT_THAT(lay_out(hosts_of({2, 1}), {}).warning, IsEmpty());
}

}  // namespace
}  // namespace rota::launcher
