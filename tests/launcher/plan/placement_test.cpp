// Tests which ranks run on which cores, on made-up machines.
#include "launcher/plan/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/plan/machine_cores.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two NUMA nodes with two cores each, two hardware threads per core, numbered as Linux does.
const std::vector<Core> kTwoNodes = {{{0, 4}, 0}, {{1, 5}, 0}, {{2, 6}, 1}, {{3, 7}, 1}};

Binding by(MapBy map_by, std::size_t cpus_per_rank) {
  return {.bind_to = BindTo::kCore, .map_by = map_by, .cpus_per_rank = cpus_per_rank};
}

TEST(Placement, BindsNobodyUnlessAsked) {
  EXPECT_THAT(place_ranks({}, 3, {.bind_to = BindTo::kNone, .map_by = MapBy::kSlot}),
              Each(IsEmpty()));
}

TEST(Placement, GivesEachRankACore) {
  EXPECT_THAT(place_ranks(kTwoNodes, 4, {.bind_to = BindTo::kCore, .map_by = MapBy::kCore}),
              ElementsAre(Cpus{0, 4}, Cpus{1, 5}, Cpus{2, 6}, Cpus{3, 7}));
}

TEST(Placement, FillsACoresHardwareThreadsBySlot) {
  EXPECT_THAT(place_ranks(kTwoNodes, 4, {.bind_to = BindTo::kCore, .map_by = MapBy::kSlot}),
              ElementsAre(Cpus{0, 4}, Cpus{0, 4}, Cpus{1, 5}, Cpus{1, 5}));
}

TEST(Placement, GoesAroundTheNodes) {
  EXPECT_THAT(place_ranks(kTwoNodes, 4, {.bind_to = BindTo::kCore, .map_by = MapBy::kNuma}),
              ElementsAre(Cpus{0, 4}, Cpus{2, 6}, Cpus{1, 5}, Cpus{3, 7}));
  EXPECT_THAT(place_ranks(kTwoNodes, 3, {.bind_to = BindTo::kNuma, .map_by = MapBy::kNuma}),
              ElementsAre(Cpus{0, 1, 4, 5}, Cpus{2, 3, 6, 7}, Cpus{0, 1, 4, 5}));
}

TEST(Placement, GoesAroundNodesOfDifferentSizes) {
  const std::vector<Core> cores = {{{0}, 0}, {{1}, 1}, {{2}, 1}, {{3}, 1}};
  EXPECT_THAT(place_ranks(cores, 5, {.bind_to = BindTo::kCore, .map_by = MapBy::kNuma}),
              ElementsAre(Cpus{0}, Cpus{1}, Cpus{2}, Cpus{3}, Cpus{0}));
}

TEST(Placement, StartsOverWhenRanksOutnumberThePlaces) {
  EXPECT_THAT(
      place_ranks({{{0}, 0}, {{1}, 0}}, 5, {.bind_to = BindTo::kCore, .map_by = MapBy::kSlot}),
      ElementsAre(Cpus{0}, Cpus{1}, Cpus{0}, Cpus{1}, Cpus{0}));
}

TEST(Placement, GivesEachRankSoManyCpus) {
  EXPECT_THAT(place_ranks(kTwoNodes, 3, by(MapBy::kSlot, 4)),
              ElementsAre(Cpus{0, 1, 4, 5}, Cpus{2, 3, 6, 7}, Cpus{0, 1, 4, 5}));
  EXPECT_THAT(place_ranks(kTwoNodes, 2, by(MapBy::kCore, 3)),
              ElementsAre(Cpus{0, 1, 4}, Cpus{2, 5, 6}));
  EXPECT_THAT(place_ranks(kTwoNodes, 2, by(MapBy::kNode, 1)), ElementsAre(Cpus{0}, Cpus{4}));
  EXPECT_THAT(place_ranks(kTwoNodes, 1, by(MapBy::kSlot, 8)),
              ElementsAre(Cpus{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Placement, GivesEachRankSoManyCpusOfOneNodeAsLongAsItHasThem) {
  EXPECT_THAT(place_ranks(kTwoNodes, 4, by(MapBy::kNuma, 2)),
              ElementsAre(Cpus{0, 4}, Cpus{2, 6}, Cpus{1, 5}, Cpus{3, 7}));
  const std::vector<Core> odd = {{{0}, 0}, {{1}, 0}, {{2}, 0}, {{3}, 1}, {{4}, 1}, {{5}, 1}};
  EXPECT_THAT(place_ranks(odd, 4, by(MapBy::kNuma, 2)),
              ElementsAre(Cpus{0, 1}, Cpus{3, 4}, Cpus{2, 5}, Cpus{0, 1}));
  Binding binding = by(MapBy::kNuma, 2);
  binding.bind_to = BindTo::kNuma;
  EXPECT_THAT(place_ranks(odd, 3, binding),
              ElementsAre(Cpus{0, 1, 2}, Cpus{3, 4, 5}, Cpus{0, 1, 2, 3, 4, 5}));
}

TEST(Placement, UsesNoMoreCoresThanTheQuotaGrants) {
  EXPECT_EQ(limit_cores(kTwoNodes, 4).size(), 2U);
  EXPECT_EQ(limit_cores(kTwoNodes, 3).size(), 2U);
  EXPECT_EQ(limit_cores(kTwoNodes, 1).size(), 1U);
  EXPECT_EQ(limit_cores(kTwoNodes, 100).size(), 4U);
}

TEST(Placement, BindsToWhatRanksAreMappedBy) {
  EXPECT_EQ(binding_of(parse_options({"p"})), BindTo::kNone);
  EXPECT_EQ(binding_of(parse_options({"--map-by", "slot", "p"})), BindTo::kNone);
  EXPECT_EQ(binding_of(parse_options({"--map-by", "core", "p"})), BindTo::kCore);
  EXPECT_EQ(binding_of(parse_options({"--map-by", "numa", "p"})), BindTo::kNuma);
  EXPECT_EQ(binding_of(parse_options({"--map-by", "numa", "--bind-to", "core", "p"})),
            BindTo::kCore);
  EXPECT_EQ(binding_of(parse_options({"--map-by", "numa", "--bind-to", "none", "p"})),
            BindTo::kNone);
}

TEST(Placement, IsShownAsRanges) {
  EXPECT_EQ(to_text(Cpus{}), "");
  EXPECT_EQ(to_text(Cpus{3}), "3");
  EXPECT_EQ(to_text(Cpus{0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(Topology, HasEveryAllowedCpuOnceAndNoOther) {
  const std::vector<int> allowed = os::allowed_cpus();
  std::vector<int> found;
  for (const Core& core : read_topology(allowed)) {
    found.insert(found.end(), core.cpus.begin(), core.cpus.end());
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(allowed));
}

TEST(Topology, LeavesOutWhatIsNotAllowed) {
  const std::vector<int> one = {os::allowed_cpus().back()};
  const auto cores = read_topology(one);
  ASSERT_EQ(cores.size(), 1U);
  EXPECT_EQ(cores[0].cpus, one);
}

}  // namespace
}  // namespace rota::launcher
