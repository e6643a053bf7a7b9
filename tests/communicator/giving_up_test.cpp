// What a rank that gives up, or leaves, does to the others at the edges: what they pass on, what
// overtakes, what it leaves half told. Method: ranks are threads, over the real transports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
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
#include "os/shared_memory.h"
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

// Three ranks over shared memory. Rank 2 is killed, or stopped, when it has begun to give up and
// before it has told why; `last` is what it did before that, and `call` what the others do then.
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
  auto world = ThreadWorld::over(base::islands_over("shm", 3), std::move(transports),
                                 {.deadline = seconds(1)});
  std::atomic<bool> has_begun{false};
  const double before = cpu_seconds();
  on_every_rank(world, [&](Communicator& comm) {
    if (comm.rank() == 2) {
      [[maybe_unused]] const auto kept = last(comm);
      killed.begin_abort(2);
      has_begun = true;
      std::this_thread::sleep_for(seconds(2));
      const Communicator closed = std::move(comm);  // Tells those that still wait, if any do.
      return;
    }
    while (!has_begun) std::this_thread::yield();
    const auto error = error_of([&] { call(comm); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->blamed_rank(), 2U) << error->what();
    EXPECT_THAT(error->what(), AllOf(HasSubstr("rank 2"), HasSubstr("timed out")));
  });
  EXPECT_LT(cpu_seconds() - before, 0.5);  // They sleep meanwhile.
}

TEST(GivingUp, EndsByTheDeadlineWhereItIsNeverTold) {
  expect_end_where_it_is_never_told([](Communicator&) { return 0; },
                                    [](Communicator& comm) {
                                      std::vector<float> values(1000);
                                      comm.send(values, 1 - comm.rank());
                                    });
}

// All that rank 2 owed them is there, so that nothing is left to be moved.
TEST(GivingUp, EndsByTheDeadlineWhereNothingElseIsMissing) {
  std::array<float, 4> owed{};
  expect_end_where_it_is_never_told(
      [&](Communicator& comm) { return comm.all_reduce_async(owed, ReduceOp::kSum); },
      [](Communicator& comm) {
        std::array<float, 4> values{};
        comm.all_reduce(values, ReduceOp::kSum);
      });
}

// As where the pids of a pod are used up. What was refused was not begun.
TEST(AsyncCall, LeavesItsValuesAloneWhereNoThreadCanBeStarted) {
  auto world = world_in_memory(2, seconds(20));
  std::atomic<bool> was_refused{false};
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(1000, 1);
    if (comm.rank() == 0) {
      pthread_attr_t usual;
      pthread_attr_t huge;
      ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
      ASSERT_EQ(::pthread_getattr_default_np(&huge), 0);
      ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
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
      while (!was_refused) std::this_thread::yield();
      comm.barrier();
    }
    std::ranges::fill(values, 1.0F);
    comm.all_reduce(values, ReduceOp::kSum);
    EXPECT_TRUE(all_are(values, 2));
  });
}

using WorldMaker = std::vector<Communicator> (*)(std::size_t, const CommunicatorOptions&);

std::vector<Communicator> memory_world_of(std::size_t world_size,
                                          const CommunicatorOptions& options) {
  return ThreadWorld::make({.world_size = world_size, .communicator = options});
}

class OnEachTransport : public ::testing::TestWithParam<WorldMaker> {};

// Of a group: its members go on in the world that it was split off.
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

// By the progress thread, which looks at the clock; then by the caller, which spins first.
TEST_P(OnEachTransport, WhatIsWaitedForLateEndsByTheDeadlineToo) {
  auto world = GetParam()(2, {.deadline = milliseconds(300)});
  std::vector<float> values(4);
  Request request = world[0].receive_async(values, 1);
  std::this_thread::sleep_for(milliseconds(100));
  const bool is_over = error_of([&] { request.wait_for(seconds(5)); }).has_value();
  EXPECT_TRUE(is_over) << "it still waits after 5 s";
}

// Each waits for what is in front of it, where either of the two writes.
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

// Which nobody would do if the second had to wait: rank 1 takes it first.
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
    // Over TCP, and without a launcher, the second one sees no more than a lost connection.
    if (error->code() == ErrorCode::kPeerLost) return;
    EXPECT_THAT(error->what(), AllOf(HasSubstr("by rank 0"), HasSubstr("by rank 1"),
                                     HasSubstr("use the same memory")));
    ++named;
  });
  EXPECT_GE(named, 1);
}

std::string name_of(const ::testing::TestParamInfo<WorldMaker>& maker) {
  constexpr const char* kNames[] = {"Memory", "Tcp", "Mixed"};
  return kNames[maker.index];
}

INSTANTIATE_TEST_SUITE_P(Worlds, OnEachTransport,
                         ::testing::Values(&memory_world_of, &testing::tcp_world_of,
                                           &testing::mixed_world_of),
                         name_of);

}  // namespace
}  // namespace rota
