// What this machine can do at most, measured by the method that rota is measured by: by two threads
// of one address space. In an all-reduce of floats they run one fused loop each over their half; in
// an all-gather and an all-to-all each copies what it gets. There is no plan, no check, no failure
// to notice, and no second copy of anything.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "collectives/run.h"

#if defined(__x86_64__)
#include <immintrin.h>
// One loop in three variants, of which the best that the machine has is taken.
#define ROTA_EVERY_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ROTA_EVERY_INSTRUCTION_SET
#endif

namespace rota::bench {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytesInALine = 48;  // That fit beside the flag.
constexpr std::size_t kPagedBytes = 64 << 10;
constexpr std::size_t kSpins = 2000;  // Then the other thread may need this core.

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// What one thread shows the other: a flag that counts, and a few values. Two of them take turns,
// since one may still be read when the next is written.
struct alignas(kCacheLine) Line {
  std::atomic<std::uint64_t> sequence{0};
  std::array<float, kBytesInALine / sizeof(float)> values{};
};

struct Shared {
  std::array<std::array<Line, 2>, kThreads> lines;
  std::array<const void*, kThreads> addresses{};
};

ROTA_EVERY_INSTRUCTION_SET
void add_to_both(float* __restrict a, float* __restrict b, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] = a[i] + b[i];
}

ROTA_EVERY_INSTRUCTION_SET
void add_into_both(const float* __restrict a, const float* __restrict b, float* __restrict out_a,
                   float* __restrict out_b, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) out_a[i] = out_b[i] = a[i] + b[i];
}

// The first thread's half ends where a page does, where there are several.
Slice half_of(std::size_t count, std::size_t thread) noexcept {
  std::size_t middle = count / 2;
  if (count * sizeof(float) >= kPagedBytes) middle -= middle % (kPage / sizeof(float));
  return thread == 0 ? Slice{0, middle} : Slice{middle, count - middle};
}

class LimitGroup final : public Group {
 public:
  LimitGroup(Shared& shared, std::size_t rank) : shared_(shared), rank_(rank) {}

  std::string name() const override { return "limit"; }
  std::size_t rank() const override { return rank_; }
  std::size_t world_size() const override { return kThreads; }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory) override {
    return plain_memory(bytes);
  }

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    const Buffers others = exchange(buffers);
    return work.collective == Collective::kAllReduce ? all_reduce(work, buffers, others)
                                                     : copies(work, buffers, others);
  }

  void barrier() override {
    ++sequence_;
    own_line().sequence.store(sequence_, std::memory_order_release);
    await_other();
  }

  std::vector<double> gather_from_all(std::span<const double> values) override {
    const auto* other = static_cast<const double*>(show(values.data()));
    std::vector<double> all;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      const double* from = thread == rank_ ? values.data() : other;
      all.insert(all.end(), from, from + values.size());
    }
    barrier();  // Until then the other one reads.
    return all;
  }

 private:
  PreparedCall all_reduce(const Work& work, const Buffers& buffers, const Buffers& others) {
    if (work.type != DataType::kFloat32 || work.op != ReduceOp::kSum) return {};
    const auto floats = [](std::byte* at) { return reinterpret_cast<float*>(at); };
    float* const in = floats(buffers.input);
    float* const out = floats(buffers.output);
    const std::size_t count = work.total;
    if (work.bytes() <= kBytesInALine) {
      return {[this, in, out, count] { sum_in_lines(in, out, count); }, "line"};
    }
    const Slice half = half_of(count, rank_);
    float* const other_in = floats(others.input) + half.offset;
    float* const other_out = floats(others.output) + half.offset;
    if (work.placement == Placement::kInPlace) {
      return {[=, this, own = in + half.offset] {
                barrier();
                add_to_both(own, other_in, half.count);
                barrier();
              },
              "fused"};
    }
    return {[=, this, own = in + half.offset, own_out = out + half.offset] {
              barrier();
              add_into_both(own, other_in, own_out, other_out, half.count);
              barrier();
            },
            "fused"};
  }

  // The own part and the other one's; in place, where there is no second copy, the latter alone.
  PreparedCall copies(const Work& work, const Buffers& buffers, const Buffers& others) {
    const bool gathers = work.collective == Collective::kAllGather;
    const bool in_place = work.placement == Placement::kInPlace;
    if (!gathers && (work.collective != Collective::kAllToAll || in_place)) return {};
    const std::size_t part = work.bytes() / kThreads;
    // What a thread gives is all of its input, in place its part of it, or one part for each.
    const std::size_t own_at = gathers ? 0 : rank_ * part;
    const std::size_t other_at = in_place ? (1 - rank_) * part : own_at;
    const std::byte* const own_from = in_place ? nullptr : buffers.input + own_at;
    const std::byte* const other_from = others.input + other_at;
    std::byte* const own_to = buffers.output + rank_ * part;
    std::byte* const other_to = buffers.output + (1 - rank_) * part;
    return {[=, this] {
              barrier();
              if (own_from != nullptr) std::memcpy(own_to, own_from, part);
              std::memcpy(other_to, other_from, part);
              barrier();
            },
            "copies"};
  }

  Line& own_line() { return shared_.lines[rank_][sequence_ % 2]; }

  const Line& await_other() {
    const Line& line = shared_.lines[1 - rank_][sequence_ % 2];
    for (std::size_t spins = 0; line.sequence.load(std::memory_order_acquire) != sequence_;) {
      relax();
      if (++spins % kSpins == 0) std::this_thread::yield();
    }
    return line;
  }

  // Values and flag travel together.
  void sum_in_lines(const float* in, float* out, std::size_t count) {
    ++sequence_;
    Line& own = own_line();
    std::memcpy(own.values.data(), in, count * sizeof(float));
    own.sequence.store(sequence_, std::memory_order_release);
    const Line& other = await_other();
    for (std::size_t i = 0; i < count; ++i) out[i] = own.values[i] + other.values[i];
  }

  // What the other thread shows.
  const void* show(const void* address) {
    shared_.addresses[rank_] = address;
    barrier();
    return shared_.addresses[1 - rank_];
  }

  Buffers exchange(const Buffers& buffers) {
    const Buffers others = *static_cast<const Buffers*>(show(&buffers));
    barrier();
    return others;
  }

  Shared& shared_;
  std::size_t rank_;
  std::uint64_t sequence_ = 0;
};

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  Shared shared;
  std::array<int, kThreads> exit_codes{};
  const auto run = [&](std::size_t rank) {
    try {
      exit_codes[rank] = run_program(
          measurement_options("limit_bench"), argument_count, arguments,
          [&](const cxxopts::ParseResult&) { return std::make_unique<LimitGroup>(shared, rank); });
    } catch (const std::exception& error) {
      std::cerr << "limit_bench: " << error.what() << '\n';
      std::_Exit(1);  // The other thread waits for this one.
    }
  };
  std::thread second(run, 1);
  run(0);
  second.join();
  return exit_codes[0];
}
