// Tests communicators that are split off from others, several communicators in use together, and
// communicators of threads in several processes. This program is one rank, and starts the threads
// itself.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/shared_allocator.h>

#include "testing/every_collective.h"

namespace rota {
namespace {

void expect_sum_of_one_each(Communicator& communicator) {
  std::vector<std::int32_t> values(1009, 1);
  communicator.all_reduce(values, ReduceOp::kSum);
  for (const std::int32_t value : values) {
    ASSERT_EQ(value, static_cast<std::int32_t>(communicator.world_size()));
  }
}

// Expects that the ranks of a group listen where a firewall between hosts lets them: at ports that
// rotarun was given. In a job of one host there is no such range.
void expect_ports_of_the_job(const Communicator& group) {
  const char* given = std::getenv("ROTA_PORTS");
  if (given == nullptr) return;
  const std::string range = given;
  const std::string last = range.substr(range.find('-') + 1);
  for (const RankRow& row : group.rank_table().rows) {
    if (row.address.empty()) continue;  // No rank connects to this one.
    const std::string port = row.address.substr(row.address.rfind(':') + 1);
    EXPECT_GT(std::stoul(port), std::stoul(range)) << row.address;
    EXPECT_LE(std::stoul(port), std::stoul(last)) << row.address;
  }
}

void test_split(Communicator& world) {
  const std::size_t color = world.rank() % 2;
  Communicator half = world.split(color, world.world_size() - world.rank());
  ASSERT_EQ(half.world_size(), (world.world_size() + 1 - color) / 2);
  // The key of split() has reversed the order.
  const std::size_t behind = (world.world_size() - 1 - world.rank()) / 2;
  ASSERT_EQ(half.rank(), behind);
  ASSERT_EQ(half.rank_table().rows.size(), half.world_size());
  expect_ports_of_the_job(half);
  // In a world of several domains, the ranks of a group may be in one domain, or each in its own
  // domain.
  const std::string& transport = half.rank_table().transport;
  if (half.world_size() == 1) {
    EXPECT_EQ(transport, "none");
  } else if (world.rank_table().transport != "shm+tcp") {
    EXPECT_EQ(transport, world.rank_table().transport);
  }
  testing::EveryCollectiveCheck<float>(half).run(1009);
  testing::EveryCollectiveCheck<float, testing::AsRequests>(half).run(33);
  expect_sum_of_one_each(world);
  expect_sum_of_one_each(half);

  Communicator again = half.split(0);
  testing::EveryCollectiveCheck<std::int64_t>(again).run(33);
}

void test_colour_of_one(Communicator& world) {
  Communicator alone = world.split(world.rank());
  EXPECT_EQ(alone.world_size(), 1U);
  EXPECT_EQ(alone.rank(), 0U);
  expect_sum_of_one_each(alone);
}

// Tests groups in use together. Each group has a thread of its own, so calls come in no order that
// ranks could agree on.
void test_side_by_side(Communicator& world) {
  std::array groups{world.split(0), world.split(1)};
  std::vector<std::thread> threads;
  threads.reserve(groups.size());
  for (Communicator& group : groups) {
    threads.emplace_back([&group] {
      for (int i = 0; i < 100; ++i) expect_sum_of_one_each(group);
    });
  }
  for (int i = 0; i < 100; ++i) expect_sum_of_one_each(world);
  for (std::thread& thread : threads) thread.join();
}

// Tests that a group may end before the world goes on, and that a new group may replace an old one.
void test_endings(Communicator& world) {
  { Communicator brief = world.split(0); }
  expect_sum_of_one_each(world);
  Communicator group = world.split(0);
  Communicator moved = std::move(group);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the point.
  EXPECT_THROW(group.barrier(), Error);
  expect_sum_of_one_each(moved);
  moved = world.split(0);
  expect_sum_of_one_each(moved);
}

void test_shared_vectors(Communicator& world) {
  using Allocator = SharedAllocator<float>;
  std::vector<float, Allocator> values(5000, 1.0F, Allocator(world));
  const std::uint64_t before = world.staged_bytes();
  world.all_reduce(values, ReduceOp::kSum);
  EXPECT_EQ(values[4999], static_cast<float>(world.world_size()));
  if (world.rank_table().transport == "shm") {
    EXPECT_EQ(world.staged_bytes(), before) << "a shared vector was copied";
  }
  values.resize(20000);
  world.all_reduce(values, ReduceOp::kMax);
}

// Tests communicators of two threads per process.
int test_threads_of_processes() {
  std::vector<Communicator> replicas = Communicator::for_threads(2);
  std::vector<std::thread> threads;
  threads.reserve(replicas.size());
  for (Communicator& replica : replicas) {
    threads.emplace_back([&replica] {
      expect_sum_of_one_each(replica);
      testing::EveryCollectiveCheck<double>(replica).run(257);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ::testing::Test::HasFailure() ? 1 : 0;
}

// Process p has p % 2 + 1 threads. The ranks of a process follow the ranks of the processes before
// it.
void expect_threads_beside(Communicator& world) {
  std::size_t first = 0;
  for (std::size_t before = 0; before < world.rank(); ++before) first += before % 2 + 1;
  std::vector<Communicator> replicas = Communicator::for_threads(world.rank() % 2 + 1);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    ASSERT_EQ(replicas[i].rank(), first + i);
    ASSERT_EQ(replicas[i].world_size(), world.world_size() + world.world_size() / 2);
    threads.emplace_back([&replica = replicas[i]] { expect_sum_of_one_each(replica); });
  }
  expect_sum_of_one_each(world);
  for (std::thread& thread : threads) thread.join();
}

// Tests that a process that has joined may make ranks of threads as often as it likes, under
// rotarun or alone.
void test_threads_beside(Communicator& world) {
  expect_threads_beside(world);
  expect_threads_beside(world);
  expect_sum_of_one_each(world);
}

// Tests inputs that are temporaries: they may end with the call, even if other ranks read them.
void test_temporaries(Communicator& world) {
  const auto rank = static_cast<std::int32_t>(world.rank());
  const auto n = static_cast<std::int32_t>(world.world_size());
  std::vector<std::int32_t> all(2 * world.world_size());
  world.all_gather(std::array{rank, -rank}, all);
  for (std::int32_t from = 0; from < n; ++from) {
    ASSERT_EQ(all[2 * static_cast<std::size_t>(from)], from);
    ASSERT_EQ(all[2 * static_cast<std::size_t>(from) + 1], -from);
  }
  std::vector<std::int32_t> sums(1009);
  world.all_reduce(std::vector<std::int32_t>(1009, 1), sums, ReduceOp::kSum);
  ASSERT_EQ(sums[1008], n);
  world.reduce(std::vector<std::int32_t>(1009, rank), sums, 0, ReduceOp::kMax);
  if (rank == 0) {
    ASSERT_EQ(sums[1008], n - 1);
  }
  std::int32_t part = -1;
  world.scatter(std::vector<std::int32_t>(world.world_size(), 7), std::span(&part, 1), 0);
  ASSERT_EQ(part, 7);
}

Communicator* the_world = nullptr;

TEST(Groups, Split) { test_split(*the_world); }
TEST(Groups, AColourOfOneIsAWorldOfOne) { test_colour_of_one(*the_world); }
TEST(Groups, LiveSideBySide) { test_side_by_side(*the_world); }
TEST(Groups, EndWhenTheyLike) { test_endings(*the_world); }
TEST(Groups, SharedVectorsAreReadInPlace) { test_shared_vectors(*the_world); }
TEST(Groups, ThreadsAreRanksBesideTheWorld) { test_threads_beside(*the_world); }
TEST(Groups, InputsMayEndWithTheCall) { test_temporaries(*the_world); }
TEST(Groups, AProcessJoinsItsJobOnce) {
  const auto options = CommunicatorOptions::from_environment();
  if (!options.rendezvous_fd) GTEST_SKIP() << "there is no job to join";
  EXPECT_THROW(Communicator second(options), Error);
  expect_sum_of_one_each(*the_world);
}

}  // namespace
}  // namespace rota

// With an argument, the ranks are threads.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) return rota::test_threads_of_processes();
  rota::Communicator world;
  rota::the_world = &world;
  return RUN_ALL_TESTS();
}
