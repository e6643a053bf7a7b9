// A training step allocates no memory once it knows the batch size.
#include <gtest/gtest.h>
#include <rota/optimizer.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "bound_model.h"

namespace {

std::atomic<std::size_t> allocations = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// noinline: otherwise the compiler takes free() for the wrong counterpart of new.
__attribute__((noinline)) void release(void* memory) { std::free(memory); }

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace rota {
namespace {

using testing::BoundModel;
using testing::RandomSamples;

constexpr ImageShape kImage = {12, 12, 2};

std::vector<Layer> every_layer() {
  return {convolution(6, 5), relu(),    max_pool(2), convolution(8, 3), max_pool(2), sigmoid(),
          dropout(0.2),      dense(20), relu(),      dense(5)};
}

TEST(Allocation, IsSeenByThisTest) {
  const std::size_t before = allocations;
  const std::vector<int> one(1);
  EXPECT_GT(allocations, before);
}

TEST(Allocation, HappensInTheFirstStepOnly) {
  BoundModel<float> model(kImage, every_layer());
  model->initialize(1);
  std::vector<std::size_t> counts;
  for (const ParameterInfo& parameter : model->parameters()) counts.push_back(parameter.count());
  const RandomSamples<float> large(40, kImage.count(), 5);
  const RandomSamples<float> small(17, kImage.count(), 5);
  for (const OptimizerOptions& options : {OptimizerOptions(Sgd{}), OptimizerOptions(Adam{})}) {
    Optimizer<float> optimizer(options, counts);
    const std::function<void(std::size_t)> update = [&](std::size_t index) {
      optimizer.update(index, model.values(index), model.gradient(index), 0.01F);
    };
    const auto step = [&](const RandomSamples<float>& samples) {
      optimizer.begin_step();
      model->train(samples.batch(), update);
    };
    step(large);
    const std::size_t before = allocations;
    step(large);
    step(small);
    model->evaluate(small.batch());
    step(large);
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
}  // namespace rota
