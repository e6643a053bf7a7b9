// Drives requests that nobody waits for.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace rota {

// Sleeps until woken, then works until `work` says that there is nothing left for it. Started where
// it is needed first, so that a program without asynchronous calls has no second thread.
class ProgressThread {
 public:
  enum class Work : std::uint8_t {
    kNone,    // There is nothing to do.
    kStands,  // There is, and nothing moves.
    kMoves,
  };

  // `work` is called again and again; it must not throw. `naps`: nothing ends its rests, and so the
  // thread naps between them: briefly after it has moved something, then longer, as far as is short
  // beside a step of a training. A nap that ends costs a core that computes some 20 µs.
  explicit ProgressThread(std::function<Work()> work, bool naps = false)
      : work_(std::move(work)), naps_(naps) {}
  ~ProgressThread() { stop(); }

  void start();  // Requires !has_started(). Throws Error kSystem.
  void wake() noexcept;
  bool has_started() const noexcept { return started_.load(std::memory_order_relaxed); }
  void stop() noexcept;  // Returns when the thread has ended.

 private:
  static constexpr std::chrono::microseconds kShortNap{100};
  static constexpr std::chrono::microseconds kLongNap{2000};
  static constexpr int kNaps = 20;  // Without work, before it sleeps until it is woken.

  void run() noexcept;
  void nap();
  bool is_woken_from_naps(std::uint32_t seen);

  std::function<Work()> work_;
  bool naps_;
  std::chrono::microseconds next_nap_ = kShortNap;
  std::atomic<std::uint32_t> wakes_{0};
  std::atomic<bool> started_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rota
