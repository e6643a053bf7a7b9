// A collective whose plan is cached allocates nothing, whichever thread drives it. If a collective
// cannot allocate memory, it ends with an error. Method: operator new counts, and fails on demand;
// ranks are threads over shared memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "communicator/thread_world.h"
#include "testing/error_of.h"
#include "testing/on_every_rank.h"

namespace {
std::atomic<long> allocations{0};
constexpr long kAsManyAsThereAre = -1;
thread_local long allocations_left = kAsManyAsThereAre;
}  // namespace

// Not inlined: otherwise the compiler would see malloc and free where it expects new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* start = std::malloc(bytes)) return start;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* start) noexcept { std::free(start); }
[[gnu::noinline]] void operator delete(void* start, std::size_t) noexcept { std::free(start); }

namespace rota {
namespace {

// Returns how many allocations the calls of `round` made on both ranks. The first few calls warm up
// and are not counted.
template <class Round>
long allocations_of(Round round) {
  auto world = ThreadWorld::make({.world_size = 2});
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  std::atomic<long> counted{-1};
  for (Communicator& communicator : world) {
    threads.emplace_back([&, comm = &communicator] {
      const Block block = comm->allocate(40000);
      const std::span shared(reinterpret_cast<float*>(block.bytes().data()), 10000);
      std::vector<double> other(3000);
      for (int i = 0; i < 10; ++i) round(*comm, shared, other);
      comm->barrier();
      const long before = allocations;
      comm->barrier();
      for (int i = 0; i < 200; ++i) round(*comm, shared, other);
      comm->barrier();
      if (comm->rank() == 0) counted = allocations - before;
      comm->barrier();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return counted;
}

TEST(HotPath, BlockingCollectivesAllocateNothing) {
  EXPECT_EQ(allocations_of([](Communicator& comm, std::span<float> shared, auto& other) {
              comm.all_reduce(shared, ReduceOp::kMean);
              comm.all_reduce(other, ReduceOp::kSum);
              comm.reduce_scatter(shared, ReduceOp::kSum);
              comm.all_gather(shared);
              comm.broadcast(other, 1);
              comm.barrier();
            }),
            0);
}

TEST(HotPath, GroupsAllocateNothing) {
  EXPECT_EQ(allocations_of([](Communicator& comm, std::span<float> shared, auto&) {
              comm.all_reduce({shared.first(100), shared.subspan(100, 300)}, ReduceOp::kSum);
              comm.all_reduce_async(std::array<Values, 2>{shared.first(17), shared.last(23)},
                                    ReduceOp::kSum)
                  .wait();
            }),
            0);
}

TEST(HotPath, RequestsAllocateNothing) {
  EXPECT_EQ(allocations_of([](Communicator& comm, std::span<float> shared, auto& other) {
              Request first = comm.all_reduce_async(shared, ReduceOp::kSum);
              Request second = comm.all_reduce_async(other, ReduceOp::kSum);
              second.wait();
              first.wait();
            }),
            0);
}

// The message of an error needs memory, and so does a message to the launcher.
TEST(OutOfMemory, EndsACallAlsoWhereNothingMoreCanBeAllocated) {
  auto world = ThreadWorld::make(
      {.world_size = 3, .communicator = {.deadline = std::chrono::milliseconds(200)}});
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  for (Communicator& communicator : world) {
    threads.emplace_back([comm = &communicator] {
      std::vector<float> values(1000);
      comm->all_reduce(values, ReduceOp::kSum);
      if (comm->rank() == 2) return;  // Rank 2 does not make the second call.
      if (comm->rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (comm->rank() == 0) allocations_left = 0;
      try {
        comm->all_reduce(values, ReduceOp::kSum);
        allocations_left = kAsManyAsThereAre;
        FAIL() << "the second call ended without rank 2";
      } catch (const Error& error) {
        allocations_left = kAsManyAsThereAre;
        const bool is_told = std::string_view(error.what()).find("had no memory to say why") !=
                             std::string_view::npos;
        EXPECT_EQ(error.code(), comm->rank() == 0 ? ErrorCode::kNoMemory : ErrorCode::kAborted);
        EXPECT_EQ(is_told, comm->rank() == 1) << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

using Buffers = std::array<std::span<float>, 3>;  // Values that a call may use.
using FirstCall = void (*)(Communicator&, const Buffers&);

// What a rank threw in the call, and what it threw in the next call.
struct Ends {
  std::optional<Error> first;
  std::optional<Error> next;
};

// Lets both ranks make `call` once. During this call, rank 0 may allocate `allocations` times.
// Index of the result = rank.
std::array<Ends, 2> ends_of(FirstCall call, long allocations) {
  auto world =
      ThreadWorld::make({.world_size = 2, .communicator = {.deadline = std::chrono::seconds(20)}});
  std::array<Ends, 2> ends;
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> memory(30'000, 1.0F);
    const std::span<float> all(memory);
    const Buffers buffers{all.first(10'000), all.subspan(10'000, 10'000), all.last(10'000)};
    Ends& own = ends[comm.rank()];
    if (comm.rank() == 0) allocations_left = allocations;
    try {
      own.first = testing::error_of([&] { call(comm, buffers); });
    } catch (const std::bad_alloc&) {
      allocations_left = kAsManyAsThereAre;
      ADD_FAILURE() << "rank " << comm.rank() << " threw something other than an Error";
    }
    allocations_left = kAsManyAsThereAre;
    if (own.first) own.next = testing::error_of([&] { comm.barrier(); });
  });
  return ends;
}

constexpr std::pair<const char*, FirstCall> kFirstCalls[] = {
    {"in shared memory",
     [](Communicator& comm, const Buffers& buffers) {
       comm.all_reduce(buffers[0], ReduceOp::kSum);
     }},
    {"by a plan with memory of its own",
     [](Communicator& comm, const Buffers& buffers) {
       comm.all_reduce_with_feedback(buffers[0], buffers[1],
                                     Reduction(ReduceOp::kMean).by(Codec::kInt8));
     }},
    {"by a plan with scratch",
     [](Communicator& comm, const Buffers& buffers) {
       comm.reduce_scatter(buffers[0], buffers[1].first(5'000), ReduceOp::kSum);
     }},
    {"of a group",
     [](Communicator& comm, const Buffers& buffers) {
       comm.all_reduce(std::array<Values, 3>{buffers[0], buffers[1], buffers[2]}, ReduceOp::kSum);
     }},
    {"that nobody waits for at once",
     [](Communicator& comm, const Buffers& buffers) {
       comm.all_reduce_async(buffers[0], ReduceOp::kSum).wait();
     }},
};

// No plan is cached yet, so an allocation may fail in the middle of a call.
TEST(OutOfMemory, EndsAFirstCallAtWhateverItCannotAllocate) {
  for (const auto& [what, call] : kFirstCalls) {
    long allocations = 0;
    for (;; ++allocations) {
      const auto ends = ends_of(call, allocations);
      if (!ends[0].first) break;
      SCOPED_TRACE(std::string(what) + ", " + std::to_string(allocations) + " allocations");
      EXPECT_EQ(ends[0].first->code(), ErrorCode::kNoMemory) << ends[0].first->what();
      ASSERT_TRUE(ends[0].next);
      EXPECT_STREQ(ends[0].next->what(), ends[0].first->what());
      ASSERT_TRUE(ends[1].first) << "rank 1 got no error";
      EXPECT_EQ(ends[1].first->code(), ErrorCode::kAborted) << ends[1].first->what();
      EXPECT_EQ(ends[1].first->blamed_rank(), 0U);
    }
    EXPECT_GT(allocations, 0) << what;
  }
}

// If one rank's arena has no room for a copy, all ranks get the error immediately.
TEST(OutOfMemory, OfTheArenaEndsTheGroup) {
  auto world = ThreadWorld::make({.world_size = 3,
                                  .arena_bytes = std::size_t{4} << 20,
                                  .communicator = {.deadline = std::chrono::seconds(20)}});
  testing::on_every_rank(world, [](Communicator& comm) {
    std::vector<float> values(2'000'000);
    const std::span<float> all(values);
    const std::array<Values, 2> group{all.first(1'000'000), all.last(1'000'000)};
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto error = testing::error_of([&] {
        if (comm.rank() == 0) return comm.all_reduce(group, ReduceOp::kSum);
        comm.all_reduce(values, ReduceOp::kSum);
      });
      ASSERT_TRUE(error) << "rank " << comm.rank();
      EXPECT_EQ(error->code(), comm.rank() == 0 ? ErrorCode::kNoMemory : ErrorCode::kAborted);
      EXPECT_EQ(std::string(error->what()).find("rank 0: no 8000000 contiguous bytes are left in"),
                0U)
          << error->what();
    }
  });
}

}  // namespace
}  // namespace rota
