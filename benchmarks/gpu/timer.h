// Measures how long a device takes for work on a stream.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "device/calls.h"
#include "device/stream.h"
#include "kernels/cuda/launches.h"

namespace rota::bench::gpu {

class Timer {
 public:
  explicit Timer(std::uint8_t device) : stream_(device), done_(device) {}

  const cuda::On& on() const noexcept { return stream_.on(); }
  // For kernels on the stream. No GPU has room for more blocks at a time.
  kernels::cuda::Queue queue() const noexcept {
    return {reinterpret_cast<void*>(on().stream), 4096};  // NOLINT: a handle is a number.
  }
  void record(const device::Event& event) { stream_.record(event); }

  // `add` puts a piece of work on the stream and returns 0, or an error code of CUDA. Returns the
  // seconds of one piece: the least of several rounds, each long enough to hide the start. Throws
  // Error kSystem.
  template <class Add>
  double seconds_of(Add add) {
    std::size_t pieces = 1;
    while (seconds_of_round(pieces, add) < kLeastSeconds) pieces *= 2;
    double least = seconds_of_round(pieces, add);
    for (int round = 1; round < kRounds; ++round) {
      least = std::min(least, seconds_of_round(pieces, add));
    }
    return least / static_cast<double>(pieces);
  }

 private:
  template <class Add>
  double seconds_of_round(std::size_t pieces, Add& add) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < pieces; ++i) {
      device::check(add(), on().device, "a piece of measured work");
    }
    stream_.record(done_);
    while (!done_.has_happened()) std::this_thread::yield();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  static constexpr double kLeastSeconds = 0.05;
  static constexpr int kRounds = 5;

  device::Stream stream_;
  device::Event done_;
};

}  // namespace rota::bench::gpu
