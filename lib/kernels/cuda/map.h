// Has the kernel that does something to each element of arrays, on its own. What it does is a body.
//
// A body has kRun, the number of elements of a run; kUnroll, how many runs a thread loads before it
// stores the first; Loaded, what it keeps of a run in between; and
//   ROTA_TARGET void one(std::size_t index) const;              // Does one element.
//   ROTA_TARGET Loaded load(std::size_t index) const;           // Begins a run at `index`.
//   ROTA_TARGET void store(std::size_t index, const Loaded&) const;  // Ends it.
// A run has at least 16 bytes of each array, except of arrays that are read byte by byte. The
// arrays go on for 16 bytes before and after a run, so load() may use load_granules().
#pragma once
#include <cstddef>

#include "kernels/cuda/granules.h"
#include "kernels/cuda/launch.h"

namespace rota::kernels::cuda {

inline constexpr unsigned kMapThreads = 256;

// The elements from `head` on are `runs` runs. The others, in front of them and behind, are done
// one by one.
struct Split {
  std::size_t head;
  std::size_t runs;
  std::size_t count;
};

// Lets runs begin where `first`, the most important array, is aligned. That array has elements of
// `bytes` bytes, a power of two. If it is not aligned at any element, runs begin anywhere.
inline Split split(const std::byte* first, std::size_t bytes, std::size_t count,
                   std::size_t run) noexcept {
  const std::size_t off = misalignment(first, kGranule);
  const std::size_t to_aligned = off % bytes == 0 && off != 0 ? (kGranule - off) / bytes : 0;
  const std::size_t head = to_aligned + run;
  if (count < head + 2 * run) return {.head = count, .runs = 0, .count = count};
  return {.head = head, .runs = (count - head - run) / run, .count = count};
}

template <class Body>
struct Map {
  static constexpr unsigned kThreads = kMapThreads;
  static constexpr unsigned kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  Body body;
  Split parts;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared&, Local&) const noexcept {
    const std::size_t threads = std::size_t{place.blocks} * kThreads;
    const std::size_t own = std::size_t{place.block} * kThreads + place.thread;
    const std::size_t in_runs = parts.runs * Body::kRun;
    for (std::size_t i = own; i < parts.count - in_runs; i += threads) {
      body.one(i < parts.head ? i : i + in_runs);
    }
    for (std::size_t first = own; first < parts.runs; first += threads * Body::kUnroll) {
      typename Body::Loaded loaded[Body::kUnroll];
      ROTA_UNROLL
      for (unsigned i = 0; i < Body::kUnroll; ++i) {
        const std::size_t each = first + i * threads;
        if (each < parts.runs) loaded[i] = body.load(parts.head + each * Body::kRun);
      }
      ROTA_UNROLL
      for (unsigned i = 0; i < Body::kUnroll; ++i) {
        const std::size_t each = first + i * threads;
        if (each < parts.runs) body.store(parts.head + each * Body::kRun, loaded[i]);
      }
    }
  }
};

// Does `count` elements. Runs begin where `first` is aligned, whose elements have `bytes` bytes.
template <class Body>
Status map(const Queue& queue, const Body& body, const std::byte* first, std::size_t bytes,
           std::size_t count) noexcept {
  if (count == 0) return 0;
  const Split parts = split(first, bytes, count, Body::kRun);
  constexpr std::size_t kShare = std::size_t{kMapThreads} * Body::kUnroll;
  const std::size_t wanted = parts.runs / kShare + 1;
  const std::size_t blocks = wanted < queue.most_blocks ? wanted : queue.most_blocks;
  return launch(queue, blocks, Map<Body>{body, parts});
}

}  // namespace rota::kernels::cuda
