// A collective that was planned before allocates nothing, whoever drives it; and one ends where
// nothing can be allocated.
// Method: operator new counts, and fails on demand; ranks are threads over shared memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "communicator/thread_world.h"

namespace {
std::atomic<long> allocations{0};
thread_local bool fails_now = false;
}  // namespace

// Not inlined, or the compiler would see malloc and free where it knows new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (fails_now) throw std::bad_alloc();
  if (void* start = std::malloc(bytes)) return start;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* start) noexcept { std::free(start); }
[[gnu::noinline]] void operator delete(void* start, std::size_t) noexcept { std::free(start); }

namespace rota {
namespace {

// Runs `round` on both ranks: a few times to warm up, then many times counted.
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

// The words of an error want memory, and so does a message to the launcher.
TEST(OutOfMemory, EndsACallAlsoWhereNothingMoreCanBeAllocated) {
  auto world = ThreadWorld::make(
      {.world_size = 3, .communicator = {.deadline = std::chrono::milliseconds(200)}});
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  for (Communicator& communicator : world) {
    threads.emplace_back([comm = &communicator] {
      std::vector<float> values(1000);
      comm->all_reduce(values, ReduceOp::kSum);
      if (comm->rank() == 2) return;  // It has no second call.
      if (comm->rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      fails_now = comm->rank() == 0;
      try {
        comm->all_reduce(values, ReduceOp::kSum);
        fails_now = false;
        FAIL() << "rank 2 has no second call";
      } catch (const Error& error) {
        fails_now = false;
        const bool is_told = std::string_view(error.what()).find("had no memory to say why") !=
                             std::string_view::npos;
        EXPECT_EQ(error.code(), comm->rank() == 0 ? ErrorCode::kNoMemory : ErrorCode::kAborted);
        EXPECT_EQ(is_told, comm->rank() == 1) << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rota
