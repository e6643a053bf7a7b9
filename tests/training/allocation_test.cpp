// A step that has been seen before allocates nothing, on any thread of the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include <rota/replica.h>

#include "training/thread_ranks.h"

namespace {

std::atomic<std::size_t> allocation_count{0};

}  // namespace

// Not inlined, or the compiler would see malloc and free where it knows new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rota {
namespace {

// With all that a step can have: micro-batches, several buckets, clipping.
TEST(HotStep, AllocatesNothing) {
  const Dataset data = testing::small_dataset(32);
  for (const std::size_t world_size : {1, 2, 3}) {
    std::atomic<std::size_t> hot_count{0};
    testing::on_every_rank(world_size, [&](Communicator& communicator) {
      ReplicaOptions options;
      options.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 512};
      options.max_gradient_norm = 0.01;
      Replica<float> replica(communicator,
                             Model<float>({6, 6, 1}, {convolution(3, 3), relu(), max_pool(2),
                                                      dense(8), relu(), dropout(0.25), dense(4)}),
                             options);
      const std::vector<std::uint64_t> samples = {1, 2, 3, 5, 8, 13, 21};
      BatchBuffer<float> buffer(data, samples.size());
      const auto step = [&] {
        replica.accumulate(buffer.gather(samples));
        replica.step(buffer.gather(samples), {});
      };
      for (int i = 0; i < 3; ++i) step();
      communicator.barrier();
      const std::size_t before = allocation_count;
      for (int i = 0; i < 5; ++i) step();
      hot_count += allocation_count - before;
      communicator.barrier();
    });
    EXPECT_EQ(hot_count, 0u) << "in a world of " << world_size;
  }
}

}  // namespace
}  // namespace rota
