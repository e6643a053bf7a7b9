// Has the kernel that does something to each element of an array whose neighbours have nothing in
// common, so that there are no runs of elements. What it does is a body.
//
// A body has
//   template <class Index>
//   ROTA_TARGET void one(Index index) const;  // Does one element.
// Index is a type of 32 bits if that is enough: a GPU divides such numbers several times as fast.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.h"

namespace rota::kernels::cuda {

template <class Body, class Index>
struct Each {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kPhases = 1;
  using Shared = Nothing;
  using Local = Nothing;

  Body body;
  Index count;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared&, Local&) const noexcept {
    const Index threads = Index{place.blocks} * kThreads;
    for (Index i = Index{place.block} * kThreads + place.thread; i < count; i += threads) {
      body.one(i);
    }
  }
};

// Does `count` elements.
template <class Body>
Status each(const Queue& queue, const Body& body, std::size_t count) noexcept {
  constexpr std::size_t kThreads = Each<Body, std::size_t>::kThreads;
  const std::size_t wanted = (count + kThreads - 1) / kThreads;
  const std::size_t blocks = wanted < queue.most_blocks ? wanted : queue.most_blocks;
  // The index grows beyond the count by one round of all threads at most.
  if (count <= 0xffff'ffff - blocks * kThreads) {
    return launch(queue, blocks,
                  Each<Body, std::uint32_t>{body, static_cast<std::uint32_t>(count)});
  }
  return launch(queue, blocks, Each<Body, std::size_t>{body, count});
}

}  // namespace rota::kernels::cuda
