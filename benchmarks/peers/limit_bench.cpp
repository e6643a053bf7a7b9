// Measures the best time that this machine can reach, by the method that measures rota. Two threads
// of one address space use the fastest known loop. The candidates are rota's kernels, in pieces of
// several sizes, and with two orders of operands: each thread begins with its own values, or both
// threads begin with the values of thread 0. The program tries the candidates with warm or with
// fresh values, and chooses the fastest. In an all-reduce each thread adds up its half, for both
// threads. In an all-gather and an all-to-all each thread copies the values that it gets, or the
// values that it gives. There is no plan, no check, no detection of failures, and no second copy.
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
constexpr std::size_t kLinePair = 128;  // A processor fetches these two cache lines together.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytesInALine = 48;  // Bytes of values that fit into a line with the flag.
constexpr std::size_t kPagedBytes = 64 << 10;
// A loop works through the buffers in pieces, or handles its whole half in one piece.
constexpr std::array<std::size_t, 5> kPieceBytes = {4 << 10, 16 << 10, 32 << 10, 128 << 10,
                                                    ~std::size_t{0}};
constexpr std::size_t kBareSpins = 256;  // As in rota: a pause would delay a quick answer.
constexpr std::size_t kSpins = 2000;     // Then yield: the other thread may need this core.

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Each thread shows the other thread a counter and a few values in one cache line. A thread
// alternates between two lines, since the other thread may still read one while this thread writes
// the next.
struct alignas(kLinePair) Line {
  std::atomic<std::uint64_t> sequence{0};
  std::array<float, kBytesInALine / sizeof(float)> values{};
};

struct Shared {
  std::array<std::array<Line, 2>, kThreads> lines;
  std::array<const void*, kThreads> addresses{};
};

// If a buffer has several pages, the half of the first thread ends at a page boundary.
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

// The buffers of a thread, in one mapping that keeps its pages: pages that are returned to the
// system and allocated again are scattered in physical memory. No kind of page is always the
// fastest. Fresh values move up to 1.5 times faster between two cores from pages that processes can
// share, like rota's. Beyond the caches, large pages are faster. So each process draws one kind at
// random.
class Pool {
 public:
  Pool(bool is_large, std::size_t rank) : first_(rank * kApart), used_(first_) {
    const int kind = is_large ? MAP_PRIVATE : MAP_SHARED;
    void* const start = ::mmap(nullptr, kReserved, PROT_READ | PROT_WRITE,
                               kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(start);
    if (is_large) ::madvise(start, kReserved, MADV_HUGEPAGE);  // May still give small pages.
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
              if (--count_ == 0) used_ = first_;
            }};
  }

 private:
  static constexpr std::size_t kReserved = std::size_t{8} << 30;

  // The system puts the mappings of both threads side by side, so bits 12 to 27 of their addresses
  // are the same. AMD's first-level caches tell lines apart by a hash of these bits: work on values
  // at the same place in both pools would be eight times as slow.
  static constexpr std::size_t kApart = 17 * kPage;

  std::byte* start_ = nullptr;
  std::size_t first_;
  std::size_t used_;
  std::size_t count_ = 0;  // Buffers in use.
};

// The random choices of a process: the kind of its pages, and whether it chooses its loops for warm
// or for fresh values, because the best loop depends on this.
struct Lot {
  unsigned drawn = std::random_device{}();

  bool has_large_pages() const noexcept { return drawn % 2 == 0; }
  State state_of(const std::vector<State>& measured) const noexcept {
    return measured[drawn / 2 % measured.size()];
  }
};

// Says when a thread copies its own part.
enum class Own : std::uint8_t { kFirst, kLast, kByTurns };

class LimitGroup final : public Group {
 public:
  LimitGroup(Shared& shared, std::size_t rank, State chosen_for, bool has_large_pages)
      : shared_(shared), rank_(rank), chosen_for_(chosen_for), pool_(has_large_pages, rank) {}

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
    barrier();  // The other thread reads until here.
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
        // If not `own_first`, both threads begin with the values of thread 0.
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

  // A thread either copies the values that it takes from the other thread, or copies the values
  // that it gives. In an all-gather it may read its own values once for both threads. It copies its
  // own part first or last, at a time when it would otherwise wait for the other thread. With
  // kByTurns, a call begins with the values that the last call left in the cache. In place, there
  // is no copy of the own part.
  PreparedCall copies(const Work& work, const Buffers& buffers, const Buffers& others) {
    const bool gathers = work.collective == Collective::kAllGather;
    const bool in_place = work.placement == Placement::kInPlace;
    if (!gathers && (work.collective != Collective::kAllToAll || in_place)) return {};
    const std::size_t part = work.bytes() / kThreads;
    const std::size_t own = rank_ * part;
    const std::size_t other = (1 - rank_) * part;
    // The input of an all-gather is one part. In place, this part is at its own position in the
    // buffer of all parts. The input of an all-to-all has one part for each thread.
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

  // Returns the fastest way: the trials use warm or fresh values, as `chosen_for_` says. A trial
  // with fresh values has the index of its way as its `plan`.
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

  // A copy to zero, one or two destinations.
  struct Transfer {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::byte* also_to = nullptr;
  };

  struct Sizes {
    std::size_t bytes = 0;
    std::size_t piece_bytes = 0;
  };

  // `own` concerns only this thread. `rest` touches memory of the other thread.
  void copy(const Transfer& own, const Transfer& rest, bool own_first, const Sizes& sizes) {
    arrive();
    if (own_first) move(own, sizes);
    await_other();
    move(rest, sizes);
    arrive();
    if (!own_first) move(own, sizes);
    await_other();
  }

  // The C library's memcpy knows the sizes of the caches, and decides whether to bypass them.
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

  // Sends the values and the flag together, in one line.
  void sum_in_lines(const float* in, float* out, std::size_t count) {
    ++sequence_;
    Line& own = own_line();
    std::memcpy(own.values.data(), in, count * sizeof(float));
    own.sequence.store(sequence_, std::memory_order_release);
    const Line& other = await_other();
    for (std::size_t i = 0; i < count; ++i) out[i] = own.values[i] + other.values[i];
  }

  // Gives the other thread an address, and returns the address that the other thread gives.
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
      std::_Exit(1);  // Otherwise the other thread would wait forever.
    }
  };
  std::thread second(run, 1);
  run(0);
  second.join();
  return exit_codes[0];
}
