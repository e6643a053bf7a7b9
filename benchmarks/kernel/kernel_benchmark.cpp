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

struct Buffers {
  std::vector<float> first;
  std::vector<float> second;
  std::vector<float> third;

  explicit Buffers(std::size_t count) : first(count, 1.0F), second(count, 1.0F), third(count) {}
};

// What is measured: a call, and how many bytes it reads and writes for each element.
struct Subject {
  std::string name;
  std::size_t bytes_an_element;
  std::function<void()> call;
};

std::vector<Subject> subjects_of(const kernels::Variant& variant, Buffers& buffers) {
  const kernels::Arithmetic<float>& arithmetic = variant.float32;
  float* const first = buffers.first.data();
  float* const second = buffers.second.data();
  float* const third = buffers.third.data();
  const std::size_t count = buffers.first.size();
  const std::string suffix = std::string(" ") + variant.name;
  // The factors leave the values near 1: arithmetic on what is almost zero can be slower.
  return {{"add" + suffix, 12, [=] { arithmetic.add(first, third, count); }},
          {"add_scale" + suffix, 12, [=] { arithmetic.add_scale(first, third, count, 1.0F); }},
          {"scale" + suffix, 8, [=] { arithmetic.scale(first, count, 1.0F); }},
          {"sgd_update" + suffix, 20, [=] {
             arithmetic.sgd_update(first, second, third, count, {0.001F, 0.999F, 0.0F, 1.0F});
           }}};
}

// One buffer of each three takes `bytes`. A kernel and memcpy take turns, so that a machine that is
// slow for a while is slow for both.
void print_throughputs(const char* where, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float);
  Buffers buffers(count);
  const Subject memory_copy = {
      "memcpy", 8, [&] { std::memcpy(buffers.first.data(), buffers.second.data(), bytes); }};
  std::printf("\nfloat32 kernels on %zu KiB buffers (%s)\n", bytes / 1024, where);
  std::printf("%-22s %8s   %s\n", "", "GB/s", "of memcpy");
  const auto throughput = [&](const Subject& subject) {
    return static_cast<double>(subject.bytes_an_element * count) / seconds_of_a_call(subject.call) *
           1e-9;
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
      std::printf("%-22s %8.1f   %.2f\n", subject.name.c_str(), median(throughputs),
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
