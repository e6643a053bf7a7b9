// Tests what happens to the other ranks when a rank gives up or leaves at an awkward moment. The
// other ranks may still pass on that rank's data, may be in a later call, or may receive only half
// of the reason. Method: ranks are threads, over the real transports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/transports.h"
#include "communicator/giving_up.h"
#include "communicator/thread_world.h"
#include "os/shared_mapping.h"
#include "testing/error_of.h"
#include "testing/mixed_world.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::all_are;
using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::world_in_memory;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

// Runs three ranks over shared memory. Rank 2 calls `last` and begins to give up. Then it does
// nothing more, as if it were killed or stopped before it told why. The other ranks then make
// `call`, which must time out and blame rank 2.
template <class Last, class Call>
void expect_end_where_it_is_never_told(Last last, Call call) {
  std::vector<os::Fd> arenas;
  arenas.reserve(3);
  for (int rank = 0; rank < 3; ++rank) {
    arenas.push_back(os::make_shared_memory("test", std::size_t{8} << 20));
  }
  const auto domain = std::make_shared<transport::shm::Domain>(std::move(arenas));
  std::vector<std::unique_ptr<transport::Transport>> transports;
  transports.reserve(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    transports.push_back(std::make_unique<transport::shm::Transport>(
        domain, rank, std::vector<std::size_t>{0, 1, 2}));
  }
  transport::Transport& killed = *transports[2];
  auto world = ThreadWorld::over(base::domains_over("shm", 3), std::move(transports),
                                 {.deadline = seconds(1)});
  std::atomic<bool> has_begun{false};
  const double before = cpu_seconds();
  on_every_rank(world, [&](Communicator& comm) {
    if (comm.rank() == 2) {
      [[maybe_unused]] const auto kept = last(comm);
      killed.begin_abort(2);
      has_begun = true;
      std::this_thread::sleep_for(seconds(2));
      const Communicator closed = std::move(comm);  // Ends the waits of the other ranks, if any.
      return;
    }
    while (!has_begun) std::this_thread::yield();
    const auto error = error_of([&] { call(comm); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->blamed_rank(), 2U) << error->what();
    EXPECT_THAT(error->what(), AllOf(HasSubstr("rank 2"), HasSubstr("timed out")));
  });
  EXPECT_LT(cpu_seconds() - before, 0.5);  // The ranks sleep while they wait.
}

TEST(GivingUp, EndsByTheDeadlineWhereItIsNeverTold) {
  expect_end_where_it_is_never_told([](Communicator&) { return 0; },
                                    [](Communicator& comm) {
                                      std::vector<float> values(1000);
                                      comm.send(values, 1 - comm.rank());
                                    });
}

// Rank 2 has sent all that it owed, so no data is left to move.
TEST(GivingUp, EndsByTheDeadlineWhereNothingElseIsMissing) {
  std::array<float, 4> owed{};
  expect_end_where_it_is_never_told(
      [&](Communicator& comm) { return comm.all_reduce_async(owed, ReduceOp::kSum); },
      [](Communicator& comm) {
        std::array<float, 4> values{};
        comm.all_reduce(values, ReduceOp::kSum);
      });
}

// A pod may have used up its process ids. A call that is refused for this reason has not begun.
TEST(AsyncCall, LeavesItsValuesAloneWhereNoThreadCanBeStarted) {
  auto world = world_in_memory(2, seconds(20));
  std::atomic<bool> all_run{false};
  std::atomic<bool> was_refused{false};
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(1000, 1);
    if (comm.rank() == 0) {
      while (!all_run) std::this_thread::yield();  // From here on, no thread can be started.
      pthread_attr_t usual;
      pthread_attr_t huge;
      ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
      ASSERT_EQ(::pthread_getattr_default_np(&huge), 0);
      constexpr std::size_t kTooMuch = std::numeric_limits<std::size_t>::max() / 4 * 3;
      ASSERT_EQ(::pthread_attr_setstacksize(&huge, kTooMuch), 0);
      ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
      const auto error = error_of([&] { comm.all_reduce_async(values, ReduceOp::kSum).wait(); });
      ASSERT_EQ(::pthread_setattr_default_np(&usual), 0);
      was_refused = true;
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), ErrorCode::kSystem) << error->what();
      std::ranges::fill(values, -5.0F);
      comm.barrier();
      EXPECT_TRUE(all_are(values, -5)) << values.front();
    } else {
      all_run = true;
      while (!was_refused) std::this_thread::yield();
      comm.barrier();
    }
    std::ranges::fill(values, 1.0F);
    comm.all_reduce(values, ReduceOp::kSum);
    EXPECT_TRUE(all_are(values, 2));
  });
}

// A group may have a deadline of its own. The group that saves checkpoints has one, because saving
// may take longer than a step may.
TEST(GivingUp, EndsByTheDeadlineOfTheGroupWhereItHasOne) {
  auto world = world_in_memory(2, seconds(60));
  on_every_rank(world, [](Communicator& comm) {
    Communicator group = comm.split(0, 0, {}, milliseconds(200));
    if (comm.rank() == 0) {
      const auto start = base::Clock::now();
      const auto error = error_of([&] { group.barrier(); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), ErrorCode::kTimeout) << error->what();
      EXPECT_LT(base::Clock::now() - start, seconds(30));
    }
    comm.barrier();
  });
}

using WorldMaker = std::vector<Communicator> (*)(std::size_t, const CommunicatorOptions&);

std::vector<Communicator> memory_world_of(std::size_t world_size,
                                          const CommunicatorOptions& options) {
  return ThreadWorld::make({.world_size = world_size, .communicator = options});
}

class OnEachTransport : public ::testing::TestWithParam<WorldMaker> {};

// The rank leaves a group; the members of the group go on in the world.
TEST_P(OnEachTransport, ARankThatLeftIsMissedAtOnce) {
  auto world = GetParam()(2, {.deadline = seconds(60)});
  const auto start = base::Clock::now();
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(1000);
    {
      Communicator group = comm.split(0);
      group.all_reduce(values, ReduceOp::kSum);
      if (comm.rank() == 0) {
        const auto error = error_of([&] { group.all_reduce(values, ReduceOp::kSum); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ErrorCode::kPeerLost) << error->what();
        EXPECT_EQ(error->blamed_rank(), 1U);
      }
    }
    EXPECT_FALSE(error_of([&] { comm.all_reduce(values, ReduceOp::kSum); }));
  });
  EXPECT_LT(base::Clock::now() - start, seconds(10));
}

TEST_P(OnEachTransport, TheLargestDeadlineWaits) {
  auto world = GetParam()(2, {.deadline = std::chrono::nanoseconds::max()});
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(1000, 1);
    const auto error = error_of([&] {
      if (comm.rank() == 1) std::this_thread::sleep_for(milliseconds(100));
      Communicator group = comm.split(0);
      group.all_reduce(values, ReduceOp::kSum);
    });
    EXPECT_FALSE(error) << error->what();
  });
}

// The progress thread waits first, and checks the clock. Then the caller waits, and spins at the
// beginning of its wait.
TEST_P(OnEachTransport, WhatIsWaitedForLateEndsByTheDeadlineToo) {
  auto world = GetParam()(2, {.deadline = milliseconds(300)});
  std::vector<float> values(4);
  Request request = world[0].receive_async(values, 1);
  std::this_thread::sleep_for(milliseconds(100));
  const bool is_over = error_of([&] { request.wait_for(seconds(5)); }).has_value();
  EXPECT_TRUE(is_over) << "a rank still waits after 5 s";
}

// If one of two messages writes the memory of both, the later message waits for the earlier one.
TEST_P(OnEachTransport, MessagesThatUseTheSameMemoryKeepTheirOrder) {
  auto world = GetParam()(3, {.deadline = seconds(20)});
  on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(4, static_cast<float>(comm.rank()));
    if (comm.rank() == 0) {
      std::this_thread::sleep_for(milliseconds(50));
      comm.send(values, 1);
    } else if (comm.rank() == 1) {
      Request receive = comm.receive_async(values, 0);
      comm.send_async(values, 2).wait();
      receive.wait();
    } else {
      comm.receive(values, 1);
      EXPECT_TRUE(all_are(values, 0)) << values.front();
    }
  });
}

// Rank 2 receives only after rank 1 has received. If rank 0's send to rank 1 had to wait for its
// earlier send to rank 2, no rank would go on.
TEST_P(OnEachTransport, MessagesThatOnlyReadTheSameMemoryGoSideBySide) {
  auto world = GetParam()(3, {.deadline = seconds(20)});
  std::atomic<bool> has_come{false};
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(100'000, static_cast<float>(comm.rank()));
    if (comm.rank() == 0) {
      Request to_last = comm.send_async(values, 2);
      comm.send_async(values, 1).wait();
      to_last.wait();
    } else {
      while (comm.rank() == 2 && !has_come) std::this_thread::yield();
      comm.receive(values, 0);
      if (comm.rank() == 1) has_come = true;
      EXPECT_TRUE(all_are(values, 0));
    }
  });
}

TEST_P(OnEachTransport, ASwapInOneBufferEndsAndNamesBothCalls) {
  auto world = GetParam()(2, {.deadline = milliseconds(300)});
  std::atomic<int> named{0};
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(4);
    const auto error = error_of([&] {
      Request receive = comm.receive_async(values, 1 - comm.rank());
      Request send = comm.send_async(values, 1 - comm.rank());
      receive.wait();
      send.wait();
    });
    ASSERT_TRUE(error);
    // Without a launcher, over TCP, the second rank sees only a lost connection.
    if (error->code() == ErrorCode::kPeerLost) return;
    EXPECT_THAT(error->what(), AllOf(HasSubstr("by rank 0"), HasSubstr("by rank 1"),
                                     HasSubstr("use the same memory")));
    ++named;
  });
  EXPECT_GE(named, 1);
}

std::string name_of(const ::testing::TestParamInfo<WorldMaker>& info) {
  constexpr const char* kNames[] = {"Memory", "Tcp", "Mixed"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Worlds, OnEachTransport,
                         ::testing::Values(&memory_world_of, &testing::tcp_world_of,
                                           &testing::mixed_world_of),
                         name_of);

}  // namespace
}  // namespace rota
