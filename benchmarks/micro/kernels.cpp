// Benchmarks of the reductions, codings and updates, in every variant that this machine supports,
// and of the matrix products of the models.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "commands.h"
#include "kernels/codings.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"
#include "nn/product.h"

namespace rota::bench {
namespace {

// Gives memory that starts at a cache line, as the buffers of the library do. Otherwise the start
// would depend on what the program allocated before, and so would the speed of the same loop.
template <class T>
struct FromCacheLine {
  using value_type = T;  // NOLINT: the standard library's name.

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t(64));
  }
  bool operator==(const FromCacheLine&) const = default;
};
using Floats = std::vector<float, FromCacheLine<float>>;

// The operands of a kernel: floats of value 1 (the third operand: 0). Kernels of other types read
// the same bytes as values of their type.
struct Buffers {
  Floats first;
  Floats second;
  Floats third;
  Floats fourth;

  explicit Buffers(std::size_t bytes)
      : first(bytes / sizeof(float), 1.0F),
        second(bytes / sizeof(float), 1.0F),
        third(bytes / sizeof(float)),
        fourth(bytes / sizeof(float), 1.0F) {}
};

using Call = std::function<void(Buffers&)>;

struct Reduced {
  DataType type;
  ReduceOp op;
};

// The reductions that training uses, and one example of each of the other kinds.
constexpr Reduced kReduced[] = {
    {DataType::kFloat32, ReduceOp::kSum},  {DataType::kFloat32, ReduceOp::kMean},
    {DataType::kFloat32, ReduceOp::kMin},  {DataType::kFloat64, ReduceOp::kSum},
    {DataType::kFloat16, ReduceOp::kSum},  {DataType::kFloat16, ReduceOp::kMin},
    {DataType::kBfloat16, ReduceOp::kSum}, {DataType::kInt8, ReduceOp::kSum},
    {DataType::kInt32, ReduceOp::kSum},    {DataType::kInt64, ReduceOp::kMin},
};

// Bytes of a buffer. Three buffers of the first size fit into an L2 cache.
constexpr std::int64_t kInCache = std::int64_t{128} << 10;
constexpr std::int64_t kInMemory = std::int64_t{64} << 20;

// `passes`: how often the call reads or writes a whole buffer. `prepare` is called before the time
// is taken.
void add_kernel(
    const std::string& name, int passes, const Call& call, const Call& prepare = [](Buffers&) {}) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [passes, call, prepare](benchmark::State& state) {
        Buffers buffers(static_cast<std::size_t>(state.range(0)));
        prepare(buffers);
        for ([[maybe_unused]] auto _ : state) {
          call(buffers);
          benchmark::ClobberMemory();
        }
        state.SetBytesProcessed(state.iterations() * state.range(0) * passes);
      })
      ->Arg(kInCache)
      ->Arg(kInMemory);
}

std::byte* bytes_of(Floats& values) { return reinterpret_cast<std::byte*>(values.data()); }

// Adds zeros and uses factors near 1, so that no value gets near zero: arithmetic with tiny values
// can be slower.
void add_reductions(const kernels::Reductions& reductions) {
  const std::string suffix = std::string("/") + reductions.variant->name;
  for (const Reduced& reduced : kReduced) {
    const std::string name =
        std::string(to_string(reduced.type)) + "_" + std::string(to_string(reduced.op));
    add_kernel(name + suffix, 3,
               [type = reduced.type,
                combine = reductions.combine(reduced.type, reduced.op)](Buffers& buffers) {
                 const std::size_t bytes = buffers.first.size() * sizeof(float);
                 combine(bytes_of(buffers.first), bytes_of(buffers.third),
                         bytes / rota::bytes_of(type), 1.0);
               });
  }
  add_kernel("float32_scale" + suffix, 2,
             [scale = reductions.scale(DataType::kFloat32)](Buffers& buffers) {
               scale(bytes_of(buffers.first), buffers.first.size(), 1.0);
             });
}

// Fills the first buffer with numbers from 0.5 to 1.5 in no order. A codec that selects or rounds
// would have nothing to do with equal numbers.
void vary(Buffers& buffers) {
  std::uint32_t random = 12345;
  for (float& value : buffers.first) {
    random = random * 1664525 + 1013904223;
    value = 0.5F + static_cast<float>(random >> 8) / static_cast<float>(1 << 24);
  }
}

// The second buffer has the coded bytes. They do not count as a pass: they are fewer.
void add_codings(const kernels::Codings& codings) {
  const std::string suffix = std::string("/") + codings.variant->name;
  for (std::size_t i = 1; i < kernels::kCodecCount; ++i) {  // All codecs but the identity.
    const auto codec = static_cast<Codec>(i);
    const std::string name(to_string(codec));
    const Call encode = [coding = codings.coding(codec)](Buffers& buffers) {
      coding.encode(bytes_of(buffers.second), bytes_of(buffers.first), buffers.first.size(),
                    {.key = 1});
    };
    add_kernel(name + "_encode" + suffix, 1, encode, vary);
    add_kernel(
        name + "_decode_add" + suffix, 2,
        [coding = codings.coding(codec)](Buffers& buffers) {
          coding.add(bytes_of(buffers.third), bytes_of(buffers.first), bytes_of(buffers.second),
                     buffers.first.size(), 1.0F);
        },
        [encode](Buffers& buffers) {
          vary(buffers);
          encode(buffers);
        });
  }
}

// With betas of 1 and gradients of 0, the means of Adam stay as they are.
void add_updates(const kernels::Optimizers& optimizers) {
  const std::string suffix = std::string("/") + optimizers.variant->name;
  add_kernel("float32_adam_update" + suffix, 7,
             [update = optimizers.float32.adam](Buffers& buffers) {
               update(buffers.first.data(), buffers.second.data(), buffers.fourth.data(),
                      buffers.third.data(), buffers.first.size(),
                      {1.0F, 1.0F, 0.0F, 1e-9F, 1.0F, 1e-8F, 1.0F});
             });
  add_kernel("float32_sgd_update" + suffix, 5, [update = optimizers.float32.sgd](Buffers& buffers) {
    update(buffers.first.data(), buffers.second.data(), buffers.third.data(), buffers.first.size(),
           {0.001F, 0.999F, 0.0F, 1.0F});
  });
}

struct ProductShape {
  const char* name;
  std::size_t rows;
  std::size_t depth;
  std::size_t columns;
};

// The products of the example's models: for a batch of 100, or for an image of a convolution.
constexpr ProductShape kProductShapes[] = {
    {"mlp_first_layer", 100, 784, 512},
    {"mlp_second_layer", 100, 512, 512},
    {"last_layer", 100, 512, 10},
    {"lenet_first_convolution", 784, 25, 32},
    {"lenet_second_convolution", 196, 800, 64},
    {"lenet_dense_layer", 100, 3136, 512},
};

void multiply(benchmark::State& state, const ProductShape& shape) {
  const std::vector<float> left(shape.rows * shape.depth, 1.0F);
  const std::vector<float> right(shape.depth * shape.columns, 1.0F);
  std::vector<float> result(shape.rows * shape.columns);
  for ([[maybe_unused]] auto _ : state) {
    nn::multiply(nn::row_major(left.data(), shape.rows, shape.depth),
                 nn::row_major(right.data(), shape.depth, shape.columns), result.data(),
                 nn::Result::kOverwrite);
    benchmark::ClobberMemory();
  }
  const auto operations = static_cast<double>(2 * shape.rows * shape.depth * shape.columns);
  state.counters["FLOP"] =
      benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int run_kernel_benchmarks(int argument_count, char** arguments) {
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 2;
  add_kernel("memcpy", 2, [](Buffers& buffers) {
    std::memcpy(buffers.first.data(), buffers.second.data(), buffers.first.size() * sizeof(float));
  });
  for (const kernels::Reductions* reductions : kernels::Reductions::table()) {
    if (reductions->variant->supported()) add_reductions(*reductions);
  }
  for (const kernels::Codings* codings : kernels::Codings::table()) {
    if (codings->variant->supported()) add_codings(*codings);
  }
  for (const kernels::Optimizers* optimizers : kernels::Optimizers::table()) {
    if (optimizers->variant->supported()) add_updates(*optimizers);
  }
  for (const ProductShape& shape : kProductShapes) {
    benchmark::RegisterBenchmark((std::string("product/") + shape.name).c_str(), multiply, shape);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace rota::bench
