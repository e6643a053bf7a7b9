// The loop that times an all-reduce, and the table that it prints.
#include "all_reduce/method.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "all_reduce/row.h"
#include "peak_memory.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr std::size_t kMaxCallsPerSample = 200;
constexpr std::size_t kBytesPerSample = 4
                                        << 20;  // Smaller sizes are called this many bytes' worth.

// Reduces small integers held in floats, whose sums are exact.
void check_sum(Group& group, std::span<float> values) {
  const std::size_t world_size = group.world_size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(group.rank() + i % 7);
  }
  group.all_reduce(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t exact = world_size * (i % 7) + world_size * (world_size - 1) / 2;
    if (values[i] == static_cast<float>(exact)) continue;
    std::ostringstream what;
    what << "rank " << group.rank() << ": " << group.name() << " gave " << values[i]
         << " for the sum " << exact << " at index " << i << " of " << values.size();
    throw std::runtime_error(what.str());
  }
}

double seconds_of_a_call(Group& group, std::span<float> values, std::size_t call_count) {
  using Clock = std::chrono::steady_clock;
  group.barrier();
  const auto begin = Clock::now();
  for (std::size_t call = 0; call < call_count; ++call) group.all_reduce(values);
  const std::chrono::duration<double> taken = Clock::now() - begin;
  return taken.count() / static_cast<double>(call_count);
}

Row measure_size(Group& group, std::span<float> values, std::size_t iterations) {
  const auto call_count =
      std::clamp<std::size_t>(kBytesPerSample / values.size_bytes(), 1, kMaxCallsPerSample);
  check_sum(group, values);
  std::ranges::fill(values, 0.0F);  // Zeros stay zeros, however often they are added up.
  seconds_of_a_call(group, values, call_count);  // Warms up.
  std::vector<double> seconds(iterations);
  for (double& sample : seconds) sample = seconds_of_a_call(group, values, call_count);
  group.take_largest(seconds);
  check_sum(group, values);

  auto peak_memory = static_cast<double>(peak_memory_bytes());
  group.take_largest({&peak_memory, 1});
  return {.name = group.name(),
          .ranks = group.world_size(),
          .bytes = values.size_bytes(),
          .calls_per_sample = call_count,
          .min_seconds = std::ranges::min(seconds),
          .median_seconds = median(seconds),
          .peak_memory_bytes = static_cast<std::size_t>(peak_memory)};
}

void print_head(const Group& group, const Method& method) {
  std::printf("# all-reduce of floats, sum; %s, %zu ranks, %zu samples a size\n",
              group.name().c_str(), group.world_size(), method.iterations);
  std::printf("#%13s %8s %12s %12s %15s %10s %10s\n", "bytes", "calls", "min us", "median us",
              "algorithm GB/s", "bus GB/s", "peak MiB");
}

void print_row(const Row& row) {
  std::printf("%14zu %8zu %12.2f %12.2f %15.3f %10.3f %10.1f\n", row.bytes, row.calls_per_sample,
              row.min_seconds * 1e6, row.median_seconds * 1e6, row.algorithm_bandwidth() / 1e9,
              row.bus_bandwidth() / 1e9, static_cast<double>(row.peak_memory_bytes) / (1 << 20));
}

// 0 where `text` is no size.
std::size_t parse_size(std::string_view text) {
  constexpr std::size_t kMaxNumber = std::size_t{1} << 32;  // So that no unit makes it overflow.
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (parsed.ec != std::errc() || number > kMaxNumber) return 0;
  if (text.empty()) return number;
  if (text == "K") return number << 10;
  if (text == "M") return number << 20;
  if (text == "G") return number << 30;
  return 0;
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t bytes = parse_size(entry);
    if (bytes == 0 || bytes % sizeof(float) != 0) {
      throw std::invalid_argument("--sizes: \"" + entry +
                                  "\" is not a positive multiple of 4, such as 4, 64K, 16M or 1G");
    }
    sizes.push_back(bytes);
    begin = end + 1;
  }
  return sizes;
}

void measure(Group& group, const Method& method) {
  const std::size_t max_bytes = std::ranges::max(method.sizes);
  const std::span<float> memory = group.allocate(max_bytes / sizeof(float));
  if (group.rank() == 0 && !method.json) print_head(group, method);
  for (const std::size_t bytes : method.sizes) {
    const Row row = measure_size(group, memory.first(bytes / sizeof(float)), method.iterations);
    if (group.rank() != 0) continue;
    if (method.json) {
      std::puts(to_json(row).c_str());
    } else {
      print_row(row);
    }
    std::fflush(stdout);
  }
}

}  // namespace rota::bench
