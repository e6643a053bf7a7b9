// Adds up the squares of an array on a GPU, in the order of norm_order.h. Each block of elements
// gives a sum. A second kernel adds these sums.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/granules.h"
#include "kernels/cuda/launch.h"
#include "kernels/norm_order.h"

namespace rota::kernels::cuda {

// Adds the upper half of the threads' sums to the lower half, until one sum is left. There are
// kHalvings phases of it.
inline constexpr unsigned kHalvings = 8;
static_assert(1U << kHalvings == kNormThreads);

template <unsigned kHalving>
ROTA_TARGET inline void halve(unsigned thread, double* sums) noexcept {
  constexpr unsigned kLeft = kNormThreads >> (kHalving + 1);
  if (thread < kLeft) sums[thread] += sums[thread + kLeft];
}

// In each turn, a thread adds the squares of four neighbouring elements to four sums. Missing
// elements are zeros, which change no sum.
template <class T>
struct SumOfSquares {
  static constexpr unsigned kThreads = kNormThreads;
  static constexpr unsigned kPhases = 1 + kHalvings;
  static constexpr unsigned kLanes = kNormLanes;
  static constexpr unsigned kTurns = kNormBlock / (kThreads * kLanes);
  struct Shared {
    double sums[kThreads];
  };
  using Local = Nothing;

  double* sums;
  const std::byte* values;
  std::size_t count;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local&) const noexcept {
    if constexpr (kPhase == 0) {
      shared.sums[place.thread] = own_sum(place);
    } else {
      halve<kPhase - 1>(place.thread, shared.sums);
      if (kPhase == kHalvings && place.thread == 0) sums[place.block] = shared.sums[0];
    }
  }

 private:
  ROTA_TARGET double own_sum(const Place& place) const noexcept {
    const Source source(values, count * sizeof(T));
    double lanes[kLanes] = {};
    ROTA_UNROLL
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      const std::size_t first =
          place.block * kNormBlock + (std::size_t{turn} * kThreads + place.thread) * kLanes;
      const auto loaded = source.load<kLanes * sizeof(T)>(first * sizeof(T));
      ROTA_UNROLL
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const double value = cpu::Same<T>::load(loaded.bytes + lane * sizeof(T));
        lanes[lane] += value * value;
      }
    }
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
  }
};

struct SumOfSums {
  static constexpr unsigned kThreads = kNormThreads;
  static constexpr unsigned kPhases = 1 + kHalvings;
  struct Shared {
    double sums[kThreads];
  };
  using Local = Nothing;

  double* result;
  const double* sums;
  std::size_t count;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local&) const noexcept {
    if constexpr (kPhase == 0) {
      double sum = 0;
      for (std::size_t i = place.thread; i < count; i += kThreads) sum += sums[i];
      shared.sums[place.thread] = sum;
    } else {
      halve<kPhase - 1>(place.thread, shared.sums);
      if (kPhase == kHalvings && place.thread == 0) *result = shared.sums[0];
    }
  }
};

template <class T>
Status squared_norm(const Queue& queue, double* result, double* sums,  // NOLINT: it writes them.
                    const std::byte* values, std::size_t count) noexcept {
  const std::size_t blocks = norm_sums(count);
  const Status status = launch(queue, blocks, SumOfSquares<T>{sums, values, count});
  return status != 0 ? status : launch(queue, 1, SumOfSums{result, sums, blocks});
}

}  // namespace rota::kernels::cuda
