// A collective that was planned before allocates nothing, whoever drives it.
// Method: operator new counts; two ranks are threads over shared memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "communicator/thread_world.h"

namespace {
std::atomic<long> allocations{0};
}  // namespace

// Not inlined, or the compiler would see malloc and free where it knows new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* start = std::malloc(bytes)) return start;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* start) noexcept { std::free(start); }
[[gnu::noinline]] void operator delete(void* start, std::size_t) noexcept { std::free(start); }

namespace rota {
namespace {

// A rank whose peers have always been there in time starts its progress thread late.
constexpr long kStartsOfThreads = 2;

// Runs `round` on both ranks: a few times to warm up, then many times counted.
template <class Round>
long allocations_of(Round round) {
  auto world = ThreadWorld::make({.world_size = 2});
  std::vector<std::thread> threads;
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
  EXPECT_LE(allocations_of([](Communicator& comm, std::span<float> shared, auto&) {
              comm.all_reduce({shared.first(100), shared.subspan(100, 300)}, ReduceOp::kSum);
              comm.all_reduce_async(std::array<Values, 2>{shared.first(17), shared.last(23)},
                                    ReduceOp::kSum)
                  .wait();
            }),
            kStartsOfThreads);
}

TEST(HotPath, RequestsAllocateNothing) {
  EXPECT_LE(allocations_of([](Communicator& comm, std::span<float> shared, auto& other) {
              Request first = comm.all_reduce_async(shared, ReduceOp::kSum);
              Request second = comm.all_reduce_async(other, ReduceOp::kSum);
              second.wait();
              first.wait();
            }),
            kStartsOfThreads);
}

}  // namespace
}  // namespace rota
