// Computes the times of a step, and sleeps until they have come.
#include "scale/pacing.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace rota::bench {
namespace {

constexpr double kPayloadOfAFrame = 1448;
constexpr double kBytesOfAFrame = 1514;

base::Duration duration_of(double seconds) {
  return std::chrono::round<base::Duration>(std::chrono::duration<double>(seconds));
}

double backward_multiplications(const ModelWork& workload, std::size_t layer) {
  return workload.layers[layer].multiplications * (layer == 0 ? 1 : 2);
}

}  // namespace

Pace pace_of(const ModelWork& workload, double seconds) {
  double passed = 0;  // Multiplications until now: first those of the forward pass.
  for (const LayerWork& layer : workload.layers) passed += layer.multiplications;
  double all = passed;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    all += backward_multiplications(workload, i);
  }
  Pace pace{.forward = duration_of(seconds * passed / all),
            .ready = std::vector<base::Duration>(2 * workload.layers.size()),
            .computing = duration_of(seconds)};
  for (std::size_t i = workload.layers.size(); i-- > 0;) {
    passed += backward_multiplications(workload, i);
    const base::Duration at = i == 0 ? pace.computing : duration_of(seconds * passed / all);
    pace.ready[2 * i] = at;      // The weights,
    pace.ready[2 * i + 1] = at;  // and the biases.
  }
  return pace;
}

double least_step_seconds(const Pace& pace, std::span<const std::size_t> counts,
                          double seconds_a_byte) {
  double least = base::to_seconds(pace.computing);
  double bytes = 0;  // Of all gradients that are not ready before this one.
  for (std::size_t i = 0; i < counts.size(); ++i) {
    bytes += static_cast<double>(counts[i] * sizeof(float));
    least = std::max(least, base::to_seconds(pace.ready[i]) + bytes * seconds_a_byte);
  }
  return least;
}

double seconds_of_a_byte(std::size_t hosts, double megabits) {
  const auto count = static_cast<double>(hosts);
  const double sent = 2 * (count - 1) / count;
  return sent * (kBytesOfAFrame / kPayloadOfAFrame) * 8 / (megabits * 1e6);
}

PacingClock real_clock() {
  return {[] { return base::Clock::now(); },
          [](base::TimePoint time) { std::this_thread::sleep_until(time); }};
}

PacedRank::PacedRank(Pace pace, PacingClock clock)
    : pace_(std::move(pace)), clock_(std::move(clock)) {}

void PacedRank::start() { begin_ = clock_.now(); }

void PacedRank::step(Sums* sums) {
  clock_.sleep_until(begin_ + pace_.forward);
  if (sums != nullptr) sums->begin();
  for (std::size_t index = pace_.ready.size(); index-- > 0;) {
    clock_.sleep_until(begin_ + pace_.ready[index]);
    if (sums != nullptr) sums->ready(index);
  }
  begin_ += pace_.computing;
  if (sums == nullptr) return;
  const base::TimePoint before = clock_.now();
  sums->wait();
  const base::Duration waited = clock_.now() - before;
  waited_ += waited;
  begin_ += waited;
}

}  // namespace rota::bench
