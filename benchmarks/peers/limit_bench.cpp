// What this machine can do at most, measured by the method that rota is measured by: by two threads
// of one address space, and by the best loop that is known: each of rota's kernels, in pieces of
// several sizes, a thread's own values first or the first thread's, chosen by warm or by fresh
// values. In an all-reduce each thread adds up its half, for both; in an all-gather and an
// all-to-all each copies what it gets or what it gives. There is no plan, no check, no failure to
// notice, and no second copy of anything.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/run.h"
#include "collectives/touch.h"
#include "kernels/reductions.h"
#include "peers/best_call.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rota::bench {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kLinePair = 128;  // What a processor fetches at once.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytesInALine = 48;  // That fit beside the flag.
constexpr std::size_t kPagedBytes = 64 << 10;
// Loops may go over both buffers a piece at a time, or over all of their half at once.
constexpr std::array<std::size_t, 5> kPieceBytes = {4 << 10, 16 << 10, 32 << 10, 128 << 10,
                                                    ~std::size_t{0}};
constexpr std::size_t kBareSpins = 256;  // As rota's: a pause would delay a quick answer.
constexpr std::size_t kSpins = 2000;     // Then the other thread may need this core.

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// What one thread shows the other: a flag that counts, and a few values. Two of them take turns,
// since one may still be read when the next is written.
struct alignas(kLinePair) Line {
  std::atomic<std::uint64_t> sequence{0};
  std::array<float, kBytesInALine / sizeof(float)> values{};
};

struct Shared {
  std::array<std::array<Line, 2>, kThreads> lines;
  std::array<const void*, kThreads> addresses{};
};

// The first thread's half ends where a page does, where there are several.
Slice half_of(const Work& work, std::size_t thread) noexcept {
  std::size_t middle = work.total / 2;
  if (work.bytes() >= kPagedBytes) middle -= middle % (kPage / bytes_of(work.type));
  return thread == 0 ? Slice{0, middle} : Slice{middle, work.total - middle};
}

// Calls piece(offset, bytes) for all of `bytes`.
template <class Piece>
void piece_by_piece(std::size_t bytes, std::size_t piece_bytes, const Piece& piece) {
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t rest = bytes - at;
    piece(at, std::min(rest, piece_bytes));
    if (rest <= piece_bytes) return;
  }
}

// A thread's buffers, of one mapping that keeps its pages: those that the system has got back and
// gives anew lie scattered. Fresh values travel up to 1.5 times faster between two cores from pages
// that processes can share, as rota's are; beyond the caches large pages are faster. So a
// process draws lots for the one or the other.
class Pool {
 public:
  explicit Pool(bool is_large) {
    const int kind = is_large ? MAP_PRIVATE : MAP_SHARED;
    void* const start = ::mmap(nullptr, kReserved, PROT_READ | PROT_WRITE,
                               kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(start);
    if (is_large) ::madvise(start, kReserved, MADV_HUGEPAGE);  // Or small, where there are none.
  }
  ~Pool() { ::munmap(start_, kReserved); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::shared_ptr<std::byte> allocate(std::size_t bytes) {
    std::byte* const memory = start_ + used_;
    if (bytes > kReserved - used_) throw std::bad_alloc();
    used_ += (bytes + kPage - 1) / kPage * kPage;
    ++count_;
    std::memset(memory, 0, bytes);
    return {memory, [this](std::byte*) {
              if (--count_ == 0) used_ = 0;
            }};
  }

 private:
  static constexpr std::size_t kReserved = std::size_t{8} << 30;

  std::byte* start_ = nullptr;
  std::size_t used_ = 0;
  std::size_t count_ = 0;  // Of buffers.
};

// What a process draws lots for: the kind of its pages and, as the best loop depends on the state
// of the values, which of those that are measured it chooses its loops for.
struct Lot {
  unsigned drawn = std::random_device{}();

  bool has_large_pages() const noexcept { return drawn % 2 == 0; }
  State state_of(const std::vector<State>& measured) const noexcept {
    return measured[drawn / 2 % measured.size()];
  }
};

// When a thread copies its own part.
enum class Own : std::uint8_t { kFirst, kLast, kByTurns };

class LimitGroup final : public Group {
 public:
  LimitGroup(Shared& shared, std::size_t rank, State chosen_for, bool has_large_pages)
      : shared_(shared), rank_(rank), chosen_for_(chosen_for), pool_(has_large_pages) {}

  std::string name() const override { return "limit"; }
  std::size_t rank() const override { return rank_; }
  std::size_t world_size() const override { return kThreads; }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory) override {
    return pool_.allocate(bytes);
  }

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    const Buffers others = exchange(buffers);
    return work.collective == Collective::kAllReduce ? all_reduce(work, buffers, others)
                                                     : copies(work, buffers, others);
  }

  void barrier() override {
    arrive();
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
    const bool in_lines = work.type == DataType::kFloat32 && work.op == ReduceOp::kSum;
    if (in_lines && work.bytes() <= kBytesInALine) {
      auto* const in = reinterpret_cast<float*>(buffers.input);
      auto* const out = reinterpret_cast<float*>(buffers.output);
      return {[this, in, out, count = work.total] { sum_in_lines(in, out, count); }, "line"};
    }
    const Slice half = half_of(work, rank_);
    const std::size_t size = bytes_of(work.type);
    const double factor = work.op == ReduceOp::kMean ? 1.0 / kThreads : 1.0;
    std::vector<PreparedCall> ways;
    for (const kernels::Reductions* reductions : kernels::Reductions::table()) {
      const auto kernel = reductions->combine_to_both(work.type, work.op);
      if (!reductions->variant->supported() || kernel == nullptr) continue;
      for (const bool own_first : {true, false}) {
        // Else the first thread's, on both.
        const bool is_first = own_first || rank_ == 0;
        const Buffers& first = is_first ? buffers : others;
        const Buffers& second = is_first ? others : buffers;
        for (const std::size_t piece_bytes : kPieceBytes) {
          const auto add = [=, at = half.offset * size](std::size_t offset, std::size_t bytes) {
            const std::size_t place = at + offset;
            kernel(first.output + place, second.output + place, first.input + place,
                   second.input + place, bytes / size, factor);
          };
          ways.push_back({[=, this] {
                            barrier();
                            piece_by_piece(half.count * size, piece_bytes, add);
                            barrier();
                          },
                          reductions->variant->name});
        }
      }
    }
    return ways.empty() ? PreparedCall{} : best_of(ways, work, buffers);
  }

  // A thread takes what it gets, or gives what it has, which it then reads once for both. It copies
  // its own part while it would wait for the other thread, before the rest or behind it. By turns,
  // a call begins with what the last one has left in the cache. In place there is no such copy.
  PreparedCall copies(const Work& work, const Buffers& buffers, const Buffers& others) {
    const bool gathers = work.collective == Collective::kAllGather;
    const bool in_place = work.placement == Placement::kInPlace;
    if (!gathers && (work.collective != Collective::kAllToAll || in_place)) return {};
    const std::size_t part = work.bytes() / kThreads;
    const std::size_t own = rank_ * part;
    const std::size_t other = (1 - rank_) * part;
    // A thread's input is all that it gives; in place it is a part of all, else one part for each.
    const std::size_t given = gathers && !in_place ? 0 : own;
    const std::size_t taken = gathers && in_place ? other : given;
    const Transfer keep{buffers.input + given, in_place ? nullptr : buffers.output + own};
    const Transfer take{others.input + taken, buffers.output + other};
    const Transfer give{buffers.input + (gathers ? given : other), others.output + own};
    const Transfer both{give.from, give.to, keep.to};
    std::vector<PreparedCall> ways;
    const auto add = [&](const Transfer& own_copy, const Transfer& rest, Own when) {
      for (const std::size_t piece_bytes : kPieceBytes) {
        ways.push_back({[=, this, is_odd = false]() mutable {
                          is_odd = !is_odd;
                          const bool first = when == Own::kByTurns ? is_odd : when == Own::kFirst;
                          copy(own_copy, rest, first, {part, piece_bytes});
                        },
                        "memcpy"});
      }
    };
    for (const Own when : {Own::kFirst, Own::kLast, Own::kByTurns}) {
      add(keep, take, when);
      if (!gathers) add(keep, give, when);
    }
    if (gathers) add({}, both, Own::kFirst);
    return best_of(ways, work, buffers);
  }

  // By warm or by fresh values. The trials of fresh ones are named by their places among the ways.
  PreparedCall best_of(const std::vector<PreparedCall>& ways, const Work& work,
                       const Buffers& buffers) {
    if (chosen_for_ == State::kWarm) return best_call(*this, ways, work.bytes());
    const Layout layout = layout_of(work, rank_, kThreads);
    const std::size_t size = bytes_of(work.type);
    const std::span values(buffers.input + layout.input.offset * size, layout.input.count * size);
    const std::span results(buffers.output + layout.output.offset * size,
                            layout.output.count * size);
    std::vector<PreparedCall> trials;
    trials.reserve(ways.size());
    for (const PreparedCall& way : ways) {
      trials.push_back({[&way, values, results] {
                          rewrite(values);
                          way.make();
                          read_all(results);
                        },
                        std::to_string(trials.size())});
    }
    return ways[std::stoul(best_call(*this, trials, work.bytes()).plan)];
  }

  // To nobody, to one place, or to two.
  struct Transfer {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::byte* also_to = nullptr;
  };

  struct Sizes {
    std::size_t bytes = 0;
    std::size_t piece_bytes = 0;
  };

  // Nobody else looks at the thread's own part; `rest` touches what is the other thread's.
  void copy(const Transfer& own, const Transfer& rest, bool own_first, const Sizes& sizes) {
    arrive();
    if (own_first) move(own, sizes);
    await_other();
    move(rest, sizes);
    arrive();
    if (!own_first) move(own, sizes);
    await_other();
  }

  // The C library knows the caches, and decides by that whether to go past them.
  static void move(const Transfer& transfer, const Sizes& sizes) {
    piece_by_piece(sizes.bytes, sizes.piece_bytes, [&](std::size_t at, std::size_t count) {
      for (std::byte* to : {transfer.to, transfer.also_to}) {
        if (to != nullptr) std::memcpy(to + at, transfer.from + at, count);
      }
    });
  }

  void arrive() {
    ++sequence_;
    own_line().sequence.store(sequence_, std::memory_order_release);
  }

  Line& own_line() { return shared_.lines[rank_][sequence_ % 2]; }

  const Line& await_other() {
    const Line& line = shared_.lines[1 - rank_][sequence_ % 2];
    for (std::size_t spins = 0; line.sequence.load(std::memory_order_acquire) != sequence_;) {
      if (++spins > kBareSpins) relax();
      if (spins % kSpins == 0) std::this_thread::yield();
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
  State chosen_for_;
  Pool pool_;
  std::uint64_t sequence_ = 0;
};

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  Shared shared;
  const Lot lot;
  std::array<int, kThreads> exit_codes{};
  const auto run = [&](std::size_t rank) {
    try {
      exit_codes[rank] =
          run_program(measurement_options("limit_bench"), argument_count, arguments,
                      [&](const cxxopts::ParseResult& given) {
                        const auto states = arguments_from(arguments[1], given).method.states;
                        return std::make_unique<LimitGroup>(shared, rank, lot.state_of(states),
                                                            lot.has_large_pages());
                      });
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
