// Has the loss on a GPU. One block does all samples and adds up their scores, in one order for each
// number of samples.
#pragma once
#include "kernels/cuda/launch.h"
#include "kernels/layer_steps.h"

namespace rota::kernels::cuda {

struct CrossEntropy {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kHalvings = 8;
  static_assert(1U << kHalvings == kThreads);
  static constexpr unsigned kPhases = 1 + kHalvings;
  struct Shared {
    double losses[kThreads];
    unsigned correct[kThreads];
  };
  using Local = Nothing;

  double* totals;
  float* gradient;  // Or null.
  const float* logits;
  const std::uint8_t* labels;
  std::size_t samples;
  std::size_t classes;
  bool adds;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local&) const noexcept {
    const unsigned thread = place.thread;
    if constexpr (kPhase == 0) {
      double loss = 0;
      unsigned correct = 0;
      for (std::size_t sample = thread; sample < samples; sample += kThreads) {
        const std::size_t first = sample * classes;
        const Verdict verdict =
            softmax_cross_entropy(logits + first, classes, std::size_t{labels[sample]},
                                  gradient == nullptr ? nullptr : gradient + first);
        loss += verdict.loss;
        correct += verdict.is_correct ? 1 : 0;
      }
      shared.losses[thread] = loss;
      shared.correct[thread] = correct;
    } else {
      constexpr unsigned kLeft = kThreads >> kPhase;
      if (thread < kLeft) {
        shared.losses[thread] += shared.losses[thread + kLeft];
        shared.correct[thread] += shared.correct[thread + kLeft];
      }
      if (kPhase == kHalvings && thread == 0) {
        totals[0] = (adds ? totals[0] : 0) + shared.losses[0];
        totals[1] = (adds ? totals[1] : 0) + shared.correct[0];
      }
    }
  }
};

}  // namespace rota::kernels::cuda
