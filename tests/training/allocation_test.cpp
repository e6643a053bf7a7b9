// A repeated step allocates nothing, on any thread of the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include <rota/summaries_hook.h>
#include <rota/trainer.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace {

std::atomic<std::size_t> allocation_count{0};

}  // namespace

// Not inlined: otherwise the compiler would see malloc and free where it expects new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rota {
namespace {

// The step uses everything that a step can have: micro-batches, several buckets, clipping.
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

// Takes the count of allocations at the end of each step, on rank 0. Asks for nothing, as most
// hooks do.
class AllocationCounter : public TrainingHook {
 public:
  void on_step(const StepReport& report) override {
    if (report.steps == kWarm) before_ = allocation_count;
    if (report.steps == kWarm + 20) hot_count = allocation_count - before_;
  }
  std::size_t hot_count = 1;

 private:
  static constexpr std::uint64_t kWarm = 5;
  std::size_t before_ = 0;
};

// A session that has no checkpoint to save.
class IdleSession : public TrainingSession {
 public:
  BeginReport begin(const StateVisit&) override { return {}; }
  void begin_step(std::uint64_t) override {}
  void end_step(std::uint64_t, const TrainingWishes&) override {}
  void between_epochs(std::uint64_t, const TrainingWishes&) override {}
  std::optional<CheckpointReport> finished() override { return std::nullopt; }
  void end(std::uint64_t) override {}
  void fail(const std::string&) noexcept override {}
  void before_update(std::size_t) override {}
  void before_send(std::size_t) override {}
};

// This holds even with summaries, if none is due in the step, and with batches that a thread
// gathers by windows.
TEST(HotStep, AllocatesNothingInATrainer) {
  const Dataset data = testing::small_dataset(600);
  const testing::TemporaryFolder folder;
  struct Case {
    std::size_t world_size;
    std::size_t prefetch;
    std::size_t window;
  };
  for (const Case& run : {Case{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {1, 2, 0}, {2, 2, 70}}) {
    AllocationCounter counter;
    testing::on_every_rank(run.world_size, [&](Communicator& communicator) {
      Trainer<float> trainer(communicator,
                             Model<float>({6, 6, 1}, {dense(8), relu(), dropout(0.25), dense(4)}),
                             data, data,
                             {.batch_size = 20 / run.world_size,
                              .prefetch = run.prefetch,
                              .shuffle_window = run.window});
      IdleSession session;
      trainer.set_session(session);
      Summaries summaries(folder.path(), {.every_steps = 1000, .histogram_steps = 1000});
      summaries.watch(trainer.replica());
      trainer.add_chief_hook(summaries);
      trainer.add_chief_hook(counter);
      trainer.run();
    });
    EXPECT_EQ(counter.hot_count, 0u)
        << "in a world of " << run.world_size << ", prefetch " << run.prefetch;
  }
}

}  // namespace
}  // namespace rota
