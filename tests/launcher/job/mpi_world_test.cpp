// Tests which ranks of an MPI world are at fault: those that stay away from it.
#include "launcher/job/mpi_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using Kind = Fault::Kind;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr base::TimePoint at_second(int second) { return base::TimePoint{} + seconds(second); }

// The MPI world has ranks 0, 2 and 3 of the job.
class MpiWorldTest : public ::testing::Test {
 protected:
  MpiWorld world_{{.kind = MpiKind::kPmi, .world = {{0, 0}, {2, 0}, {3, 1}}}, seconds(30)};
};

TEST_F(MpiWorldTest, IsSatisfiedWithRanksThatFinalize) {
  for (const std::size_t rank : {0U, 2U, 3U}) {
    world_.on_connected(rank, at_second(0));
    world_.on_finalized(rank);
    EXPECT_FALSE(world_.on_exit(rank, true));
  }
  EXPECT_FALSE(world_.on_exit(1, true)) << "it is not in the MPI world";
  EXPECT_FALSE(world_.fault_by(at_second(1000)));
  EXPECT_FALSE(world_.next_deadline());
}

TEST_F(MpiWorldTest, BlamesARankThatEndsWellAndStayedAway) {
  const auto fault = world_.on_exit(2, true);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Kind::kLeft);
  EXPECT_EQ(fault->rank, 2U);
  EXPECT_THAT(fault->testimony, HasSubstr("did not call MPI_Init of an MPI that uses PMI-1"));
  EXPECT_FALSE(world_.on_exit(3, false)) << "its exit code says more";
}

// With --transport mpi, rota calls MPI when the program makes a Communicator.
TEST_F(MpiWorldTest, BlamesARankThatMadeNoCommunicatorOverMpi) {
  MpiWorld world({.kind = MpiKind::kPmix, .world = {{0, 0}, {1, 0}}}, seconds(30), true);
  const auto fault = world.on_exit(1, true);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->rank, 1U);
  EXPECT_THAT(fault->testimony, HasSubstr("made no Communicator of all ranks"));
  MpiWorld alone({.kind = MpiKind::kPmix, .world = {{0, 0}}}, seconds(30), true);
  EXPECT_FALSE(alone.on_exit(0, true)) << "it sends no messages";
}

TEST_F(MpiWorldTest, BlamesARankThatEndsWithoutFinalize) {
  world_.on_connected(3, at_second(0));
  const auto fault = world_.on_exit(3, true);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Kind::kLeft);
  EXPECT_THAT(fault->testimony, HasSubstr("it called MPI_Init, but not MPI_Finalize"));
}

TEST_F(MpiWorldTest, WaitsSomeTimeForTheOthers) {
  for (const std::size_t rank : {0U, 2U, 3U}) world_.on_started(rank, at_second(0));
  EXPECT_FALSE(world_.fault_by(at_second(1000))) << "no rank has called MPI_Init";
  world_.on_connected(2, at_second(5));
  world_.on_connected(0, at_second(6));
  EXPECT_EQ(world_.next_deadline(), at_second(15));
  EXPECT_FALSE(world_.fault_by(at_second(14)));
  const auto fault = world_.fault_by(at_second(15));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Kind::kSilent);
  EXPECT_EQ(fault->rank, 3U);
  EXPECT_THAT(fault->testimony, HasSubstr("within 10 s after rank 2 did"));
  world_.on_connected(3, at_second(16));
  EXPECT_FALSE(world_.fault_by(at_second(1000)));
}

// Starting many ranks may take longer than a rank has time.
TEST_F(MpiWorldTest, WaitsForARankFromItsStartOn) {
  world_.on_started(0, at_second(0));
  world_.on_connected(0, at_second(5));
  world_.on_started(2, at_second(12));
  EXPECT_EQ(world_.next_deadline(), at_second(22));
  EXPECT_FALSE(world_.fault_by(at_second(21)));
  EXPECT_EQ(world_.fault_by(at_second(22))->rank, 2U);
  world_.on_connected(2, at_second(22));
  EXPECT_FALSE(world_.fault_by(at_second(1000))) << "rank 3 has not started";
  EXPECT_FALSE(world_.next_deadline());
}

TEST_F(MpiWorldTest, WaitsForNoRankLongerThanForAFence) {
  MpiWorld hasty({.kind = MpiKind::kPmix, .world = {{0, 0}, {1, 0}}}, seconds(2));
  for (const std::size_t rank : {0U, 1U}) hasty.on_started(rank, at_second(0));
  hasty.on_connected(0, at_second(0));
  EXPECT_FALSE(hasty.fault_by(at_second(1)));
  EXPECT_THAT(hasty.fault_by(at_second(2))->testimony, HasSubstr("within 2 s after rank 0 did"));
}

// A PMIx server tells of a fence when all ranks of its host have arrived.
TEST_F(MpiWorldTest, NamesTheRanksOfWhichSomeAreAbsent) {
  MpiWorld pmix({.kind = MpiKind::kPmix, .world = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}}},
                seconds(30));
  for (const std::size_t rank : {0U, 1U, 2U, 3U, 4U}) pmix.on_connected(rank, at_second(0));
  pmix.on_fenced({.key = "0", .arrived = {0, 1}}, at_second(1));
  EXPECT_EQ(pmix.fault_by(at_second(31))->rank, 4U);
  EXPECT_THAT(pmix.fault_by(at_second(31))->testimony,
              HasSubstr("absent: one or more of rank 2, rank 3, rank 4"));
  EXPECT_EQ(pmix.stall_by(at_second(31)), "");
  pmix.on_fenced({.key = "0", .arrived = {4}}, at_second(31));
  EXPECT_FALSE(pmix.fault_by(at_second(31)));
  EXPECT_EQ(pmix.stall_by(at_second(30)), "");
  EXPECT_THAT(pmix.stall_by(at_second(31)), HasSubstr("absent: one or more of rank 2, rank 3"));
}

TEST_F(MpiWorldTest, NamesWhoIsAbsentFromAFence) {
  for (const std::size_t rank : {0U, 2U, 3U}) world_.on_connected(rank, at_second(0));
  EXPECT_FALSE(world_.on_fenced({.key = "0", .arrived = {0}, .is_whole = false}, at_second(1)));
  EXPECT_FALSE(world_.fault_by(at_second(30)));
  const auto fault = world_.fault_by(at_second(31));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Kind::kSilent);
  EXPECT_EQ(fault->rank, 2U);
  EXPECT_THAT(fault->testimony, HasSubstr("for 30 s (--join-timeout); absent: rank 2, rank 3"));
}

TEST_F(MpiWorldTest, RefusesTooManyBytes) {
  EXPECT_EQ(world_.excess(), "");
  world_.on_fenced({.key = "0", .arrived = {0}, .data = std::string(kMostFenceBytes, 'x')},
                   at_second(0));
  EXPECT_EQ(world_.excess(), "");
  world_.on_fenced({.key = "0", .arrived = {2, 3}, .data = "y"}, at_second(0));
  EXPECT_THAT(world_.excess(), HasSubstr("at most 4194304"));
}

}  // namespace
}  // namespace rota::launcher
