// Tests which ranks are one MPI world.
#include "launcher/mpi/mpi_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MpiPlan, HasTheRanksOfAllGroupsThatHaveAnMpi) {
  const std::vector<HostAssignment> hosts = {
      {.ranks = {0, 3}, .groups = {0, 2}, .world_size = 5, .host_index = 0},
      {.ranks = {1, 2, 4}, .groups = {0, 1, 2}, .world_size = 5, .host_index = 1}};
  const std::vector<MpiKind> kinds = {MpiKind::kPmi, MpiKind::kNone, MpiKind::kPmi};
  const MpiPlan plan = plan_mpi(kinds, hosts);
  EXPECT_EQ(plan.kind, MpiKind::kPmi);
  EXPECT_THAT(plan.world,
              ElementsAre(MpiPlace{0, 0}, MpiPlace{1, 1}, MpiPlace{3, 0}, MpiPlace{4, 1}));
  EXPECT_EQ(mpi_rank_of(plan, 3), 2U);
  EXPECT_EQ(mpi_rank_of(plan, 2), std::nullopt);
  EXPECT_EQ(mpi_rank_of(plan, 5), std::nullopt);
  EXPECT_EQ(decode_mpi_plan(encode(plan)), plan);
  EXPECT_THAT(number_variables(plan, hosts[1], 2),
              ElementsAre("OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4",
                          "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
                          "OMPI_COMM_WORLD_NODE_RANK=1", "OMPI_UNIVERSE_SIZE=4"));
}

// Method: torchrun has started two rotaruns on the first machine. MPICH finds its peers on a
// machine, whichever rotarun started them. A PMIx server knows the ranks of its rotarun only.
TEST(MpiPlan, HasNodesOfOneServerEach) {
  const std::vector<HostAssignment> hosts = {{.ranks = {0}, .groups = {0}, .host_index = 0},
                                             {.ranks = {1}, .groups = {0}, .host_index = 0},
                                             {.ranks = {2}, .groups = {0}, .host_index = 1}};
  const auto places_with = [&](MpiKind kind) { return plan_mpi(std::array{kind}, hosts).world; };
  EXPECT_THAT(places_with(MpiKind::kPmi),
              ElementsAre(MpiPlace{0, 0}, MpiPlace{1, 0}, MpiPlace{2, 1}));
  EXPECT_THAT(places_with(MpiKind::kPmix),
              ElementsAre(MpiPlace{0, 0}, MpiPlace{1, 1}, MpiPlace{2, 2}));
}

// Open MPI's messages name hosts, and a person must find them.
TEST(MpiPlan, NamesNodesAsTheTableDoes) {
  std::vector<HostAssignment> hosts;
  RankTable table;
  for (const char* name : {"a", "b", "a", "a-2", "c_c", "10.0.0.7", "[fd00::7]"}) {
    hosts.push_back({.ranks = {table.rows.size()}, .groups = {0}});
    table.rows.push_back({.host = name});
  }
  const MpiPlan plan = plan_mpi(std::array{MpiKind::kPmix}, hosts, table);
  EXPECT_THAT(plan.node_names,
              ElementsAre("a-0", "b", "a-2-2", "a-2", "host-4", "10.0.0.7", "host-6"));
  EXPECT_EQ(decode_mpi_plan(encode(plan)), plan);
}

TEST(MpiPlan, IsEmptyWithoutAnMpi) {
  const std::vector<HostAssignment> hosts = {{.ranks = {0}, .groups = {0}}};
  const std::vector<MpiKind> kinds = {MpiKind::kNone};
  const MpiPlan plan = plan_mpi(kinds, hosts);
  EXPECT_EQ(plan.kind, MpiKind::kNone);
  EXPECT_THAT(plan.world, IsEmpty());
  EXPECT_EQ(decode_mpi_plan(encode(plan)), plan);
}

TEST(MpiPlan, IsNoneOfOtherBytes) {
  const std::string good = encode(MpiPlan{.kind = MpiKind::kPmi, .world = {{0, 0}, {1, 0}}});
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(decode_mpi_plan(good.substr(0, length))) << length;
  }
  EXPECT_FALSE(decode_mpi_plan(good + "x"));
  EXPECT_FALSE(decode_mpi_plan("\x07" + good.substr(1))) << "there is no such kind";
  EXPECT_FALSE(decode_mpi_plan(encode(MpiPlan{.world = {{1, 0}, {1, 0}}}))) << "a rank twice";
}

}  // namespace
}  // namespace rota::launcher
