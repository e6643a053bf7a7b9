// Measures every variant of every kernel that this machine supports.
#include "kernel/kernel_benchmark.h"

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernel/stopwatch.h"
#include "kernels/kernels.h"
#include "nn/product.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr int kRounds = 7;

// All ones, in bytes that each type takes for its own.
struct Buffers {
  std::vector<float> first;
  std::vector<float> second;
  std::vector<float> third;

  explicit Buffers(std::size_t bytes)
      : first(bytes / sizeof(float), 1.0F),
        second(bytes / sizeof(float), 1.0F),
        third(bytes / sizeof(float)) {}
};

// What is measured: a call, and how many buffers it reads and writes.
struct Subject {
  std::string name;
  std::size_t passes;
  std::function<void()> call;
};

struct Reduced {
  DataType type;
  ReduceOp op;
};

// Those that training uses, and one of each other sort.
constexpr Reduced kReduced[] = {
    {DataType::kFloat32, ReduceOp::kSum},  {DataType::kFloat32, ReduceOp::kMean},
    {DataType::kFloat32, ReduceOp::kMin},  {DataType::kFloat64, ReduceOp::kSum},
    {DataType::kFloat16, ReduceOp::kSum},  {DataType::kFloat16, ReduceOp::kMin},
    {DataType::kBfloat16, ReduceOp::kSum}, {DataType::kInt8, ReduceOp::kSum},
    {DataType::kInt32, ReduceOp::kSum},    {DataType::kInt64, ReduceOp::kMin},
};

std::vector<Subject> subjects_of(const kernels::Variant& variant, Buffers& buffers) {
  float* const first = buffers.first.data();
  float* const second = buffers.second.data();
  float* const third = buffers.third.data();
  const std::size_t count = buffers.first.size();
  auto* const bytes = reinterpret_cast<std::byte*>(first);
  const auto* const input = reinterpret_cast<const std::byte*>(third);
  const std::string suffix = std::string(" ") + variant.name;
  std::vector<Subject> subjects;
  // Zeros are added, and factors are near 1: arithmetic on what is almost zero can be slower.
  for (const Reduced& reduced : kReduced) {
    const std::size_t elements = count * sizeof(float) / bytes_of(reduced.type);
    subjects.push_back(
        {std::string(to_string(reduced.type)) + " " + std::string(to_string(reduced.op)) + suffix,
         3, [=, combine = variant.combine(reduced.type, reduced.op)] {
           combine(bytes, input, elements, 1.0);
         }});
  }
  subjects.push_back({"float32 scale" + suffix, 2, [=, scale = variant.scale(DataType::kFloat32)] {
                        scale(bytes, count, 1.0);
                      }});
  subjects.push_back(
      {"float32 sgd_update" + suffix, 5, [=, &variant] {
         variant.float32.sgd_update(first, second, third, count, {0.001F, 0.999F, 0.0F, 1.0F});
       }});
  return subjects;
}

// One buffer of each three takes `bytes`. A kernel and memcpy take turns, so that a machine that is
// slow for a while is slow for both.
void print_throughputs(const char* where, std::size_t bytes) {
  Buffers buffers(bytes);
  const Subject memory_copy = {
      "memcpy", 2, [&] { std::memcpy(buffers.first.data(), buffers.second.data(), bytes); }};
  std::printf("\nkernels on %zu KiB buffers (%s)\n", bytes / 1024, where);
  std::printf("%-28s %8s   %s\n", "", "GB/s", "of memcpy");
  const auto throughput = [&](const Subject& subject) {
    return static_cast<double>(subject.passes * bytes) / seconds_of_a_call(subject.call) * 1e-9;
  };
  for (const kernels::Variant* variant : kernels::variants()) {
    if (!variant->supported()) continue;
    for (const Subject& subject : subjects_of(*variant, buffers)) {
      std::vector<double> throughputs;
      std::vector<double> ratios;
      for (int round = 0; round < kRounds; ++round) {
        throughputs.push_back(throughput(subject));
        ratios.push_back(throughputs.back() / throughput(memory_copy));
      }
      std::printf("%-28s %8.1f   %.2f\n", subject.name.c_str(), median(throughputs),
                  median(ratios));
    }
  }
}

struct ProductShape {
  const char* name;
  std::size_t rows;
  std::size_t depth;
  std::size_t columns;
};

// What the example's models multiply for a batch of 100, or for an image of a convolution.
constexpr ProductShape kProductShapes[] = {
    {"mlp, first layer", 100, 784, 512},
    {"mlp, second layer", 100, 512, 512},
    {"last layer", 100, 512, 10},
    {"lenet, first convolution", 784, 25, 32},
    {"lenet, second convolution", 196, 800, 64},
    {"lenet, dense layer", 100, 3136, 512},
};

double product_throughput(const ProductShape& shape) {
  const std::vector<float> left(shape.rows * shape.depth, 1.0F);
  const std::vector<float> right(shape.depth * shape.columns, 1.0F);
  std::vector<float> result(shape.rows * shape.columns);
  const auto operations = static_cast<double>(2 * shape.rows * shape.depth * shape.columns);
  std::vector<double> throughputs;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = seconds_of_a_call([&] {
      nn::multiply(nn::row_major(left.data(), shape.rows, shape.depth),
                   nn::row_major(right.data(), shape.depth, shape.columns), result.data(),
                   nn::Result::kOverwrite);
    });
    throughputs.push_back(operations / seconds * 1e-9);
  }
  return median(throughputs);
}

void print_products() {
  std::printf("\nmatrix products, float32\n%-26s %8s\n", "", "GFLOP/s");
  for (const ProductShape& shape : kProductShapes) {
    std::printf("%-26s %8.1f\n", shape.name, product_throughput(shape));
  }
}

}  // namespace

int run_kernel_benchmark() {
  print_throughputs("three fit into a second-level cache", std::size_t{128} * 1024);
  print_throughputs("in memory", std::size_t{64} * 1024 * 1024);
  print_products();
  return 0;
}

}  // namespace rota::bench
