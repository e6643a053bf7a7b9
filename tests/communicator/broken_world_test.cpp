// Tests what breaks a communicator, which error each rank gets, and what remains of the rank's
// memory. Method: ranks are threads, over the real shared-memory transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "communicator/thread_world.h"
#include "testing/error_of.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using testing::error_of;
using testing::on_every_rank;

// Expects that this rank's error has the message of a mismatch. Whichever rank compared the calls,
// all ranks have the same message. The message names both sides, and no rank adds its own words to
// it.
void expect_mismatch(const Communicator& comm, const std::optional<Error>& error,
                     std::initializer_list<const char*> words) {
  ASSERT_TRUE(error) << "rank " << comm.rank();
  const std::string text = error->what();
  EXPECT_EQ(error->code(), ErrorCode::kMismatch) << "rank " << comm.rank() << ": " << text;
  EXPECT_TRUE(error->blamed_rank());
  for (const std::string word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
  const std::string advice = ": every rank must make the same calls in the same order";
  EXPECT_TRUE(text.ends_with(advice)) << text;
  const std::size_t first = text.find("): ");  // "rank 1 (host): "
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("(" + comm.rank_table().rows[0].host + "): ", first), std::string::npos)
      << "two ranks speak: " << text;
}

std::vector<Communicator> breakable_world(
    std::size_t world_size, std::chrono::nanoseconds deadline = std::chrono::seconds(20)) {
  ThreadWorldOptions options;
  options.world_size = world_size;
  options.communicator.deadline = deadline;
  return ThreadWorld::make(options);
}

class BrokenWorldTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::vector<Communicator> make_world() { return breakable_world(GetParam()); }
};

TEST_P(BrokenWorldTest, BreaksForGoodOnEveryRankWithTheFirstCause) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    if (comm.rank() == 1) comm.abort("the disk is on fire");
    std::vector<float> values(100);
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        for (int i = 0; i < 1000; ++i) comm.all_reduce(values, ReduceOp::kSum);
        FAIL() << "rank " << comm.rank() << " got no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kAborted);
        EXPECT_NE(std::string(error.what()).find("rank 1: the disk is on fire"), std::string::npos)
            << error.what();
      }
    }
  });
}

TEST_P(BrokenWorldTest, NamesWhomAWaitWasFor) {
  ThreadWorldOptions options;
  options.world_size = GetParam();
  options.communicator.deadline = std::chrono::milliseconds(200);
  auto world = ThreadWorld::make(options);
  on_every_rank(world, [](Communicator& comm) {
    if (comm.rank() == 0) return;  // Rank 0 never calls.
    std::vector<float> values(1000);
    try {
      comm.all_reduce(values, ReduceOp::kSum);
      FAIL() << "rank " << comm.rank() << " did not wait for rank 0";
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kTimeout) {
        EXPECT_TRUE(error.blamed_rank().has_value());
        EXPECT_NE(std::string(error.what()).find("timed out after 0.2 s"), std::string::npos)
            << error.what();
      } else {
        EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
      }
    }
  });
}

TEST_P(BrokenWorldTest, RefusesCallsThatDiffer) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(comm.rank() == 0 ? 100 : 200);
    const auto error = error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
    expect_mismatch(comm, error, {"of 100 float32", "of 200 float32"});
  });
}

// Rank 0 is in a broadcast, the other ranks are in an all-reduce.
TEST_P(BrokenWorldTest, RefusesCallsInAnotherOrder) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(100, 1.0F);
    const auto error = error_of([&] {
      if (comm.rank() != 0) comm.all_reduce(values, ReduceOp::kSum);
      comm.broadcast(values, 0);
      if (comm.rank() == 0) comm.all_reduce(values, ReduceOp::kSum);
      comm.barrier();
    });
    expect_mismatch(comm, error, {"all_reduce", "broadcast"});
  });
}

TEST_P(BrokenWorldTest, TypesAndOperationsThatDifferAreMismatchesToo) {
  for (const bool type_differs : {true, false}) {
    auto world = make_world();
    on_every_rank(world, [&](Communicator& comm) {
      std::vector<float> floats(64, 1.0F);
      std::vector<std::int32_t> integers(64, 1);
      const auto error = error_of([&] {
        if (comm.rank() != 0 || !type_differs) {
          comm.all_reduce(floats, comm.rank() == 0 ? ReduceOp::kMax : ReduceOp::kSum);
        } else {
          comm.all_reduce(integers, ReduceOp::kSum);
        }
        comm.barrier();
      });
      expect_mismatch(comm, error, {type_differs ? "int32" : "max"});
    });
  }
}

TEST_P(BrokenWorldTest, ARankThatHasLeftIsMissedAtOnce) {
  auto world = make_world();
  on_every_rank(world, [](Communicator& comm) {
    if (comm.rank() == 0) {
      const Communicator gone = std::move(comm);
      return;
    }
    std::vector<float> values(1000);
    const auto error = error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
    ASSERT_TRUE(error);
    EXPECT_TRUE(error->code() == ErrorCode::kPeerLost || error->code() == ErrorCode::kAborted)
        << error->what();
    EXPECT_NE(std::string(error->what()).find("left"), std::string::npos) << error->what();
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, BrokenWorldTest, ::testing::Values(2, 3, 4, 5));

TEST(Broken, EveryLaterCallAndRequestTellsTheFirstCause) {
  auto world = breakable_world(2);
  std::vector<float> values(100);
  Request pending = world[0].all_reduce_async(values, ReduceOp::kSum);
  world[0].abort("enough");
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { pending.wait(); }, [&] { world[0].barrier(); },
           [&] { static_cast<void>(world[0].allocate(64)); }, [&] { world[0].send(values, 1); }}) {
    const auto error = error_of(call);
    ASSERT_TRUE(error);
    EXPECT_STREQ(error->what(), "rank 0: enough");
  }
  EXPECT_TRUE(pending.test()) << "a failed request counts as done";
}

TEST(Broken, AMovedFromCommunicatorSaysSo) {
  Communicator first{CommunicatorOptions{}};
  const Communicator second = std::move(first);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the point.
  const auto error = error_of([&] { first.barrier(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kClosed);
}

TEST(Broken, ARequestOutlivesItsCommunicator) {
  std::vector<float> values(100);
  auto world = breakable_world(2);
  Request pending = world[0].all_reduce_async(values, ReduceOp::kSum);
  world.clear();
  const auto error = error_of([&] { pending.wait(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kClosed);
}

TEST(Broken, AWaitForALimitedTimeLeavesTheCollectiveGoingOn) {
  auto world = breakable_world(2);
  std::vector<float> mine(10, 1.0F);
  std::vector<float> theirs(10, 2.0F);
  Request request = world[0].all_reduce_async(mine, ReduceOp::kSum);
  EXPECT_FALSE(request.wait_for(std::chrono::milliseconds(20)));
  std::thread peer([&] { world[1].all_reduce(theirs, ReduceOp::kSum); });
  EXPECT_TRUE(request.wait_for(std::chrono::seconds(20)));
  peer.join();
  EXPECT_EQ(mine[9], 3.0F);
}

TEST(Broken, WaitAllWaitsForAllAndThrowsTheFirst) {
  auto world = breakable_world(2);
  std::vector<float> values(10);
  std::vector<Request> requests(3);
  requests[1] = world[0].all_reduce_async(values, ReduceOp::kSum);
  world[0].abort("enough");
  EXPECT_THROW(wait_all(requests), Error);
}

// A dropped request is neither waited for nor cancelled.
TEST(Broken, ADroppedRequestIsDoneAllTheSame) {
  auto world = breakable_world(2);
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(1000, 1.0F);
    static_cast<void>(comm.all_reduce_async(values, ReduceOp::kSum));
    comm.barrier();
    EXPECT_EQ(values[999], 2.0F);
  });
}

// Rank 1 is stopped before it has read rank 0's message. Rank 0 gives up, gives its memory back,
// and goes on with a new communicator. Then rank 1 wakes up.
TEST(Broken, ASleeperThatWakesUpFindsTheOldMemoryAndLeavesTheNewAlone) {
  auto old_world = breakable_world(2, std::chrono::milliseconds(100));
  const std::byte* old_start = nullptr;
  {
    const Block block = old_world[0].allocate(1 << 16);
    old_start = block.bytes().data();
    std::memset(block.bytes().data(), 7, block.bytes().size());
    const std::span values(reinterpret_cast<std::uint8_t*>(block.bytes().data()), 1 << 16);
    EXPECT_TRUE(error_of([&] { old_world[0].all_reduce(values, ReduceOp::kSum); }));
  }
  auto new_world = breakable_world(2);
  const Block block = new_world[0].allocate(1 << 16);
  ASSERT_NE(block.bytes().data(), old_start);
  std::memset(block.bytes().data(), 42, block.bytes().size());

  std::vector<std::uint8_t> late(1 << 16, 1);
  EXPECT_TRUE(error_of([&] { old_world[1].all_reduce(late, ReduceOp::kSum); }));
  for (std::size_t i = 0; i < block.bytes().size(); ++i) {
    ASSERT_EQ(block.bytes()[i], std::byte{42}) << i;
    ASSERT_EQ(old_start[i], std::byte{7}) << "the old memory was used again";
  }
  new_world.clear();
}

}  // namespace
}  // namespace rota
