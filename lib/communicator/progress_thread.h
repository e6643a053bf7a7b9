// The thread that drives requests while no other thread waits for them.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace rota {

// Sleeps until woken, then works until `work` returns kNone. The thread starts when it is first
// needed, so that a program without asynchronous calls has no second thread.
class ProgressThread {
 public:
  enum class Work : std::uint8_t {
    kNone,    // There is nothing to do.
    kStands,  // There is work, but nothing moves.
    kMoves,
  };

  // `work` is called again and again; it must not throw. `polls`: peers cannot wake the thread
  // (shm), so it polls: 100 µs after progress, then at intervals that grow to 2 ms, well below a
  // training step. Each poll takes about 20 µs of a core that computes.
  explicit ProgressThread(std::function<Work()> work, bool polls = false)
      : work_(std::move(work)), polls_(polls) {}
  ~ProgressThread() { stop(); }

  void start();  // Requires !has_started(). Throws Error kSystem.
  void wake() noexcept;
  bool has_started() const noexcept { return started_.load(std::memory_order_relaxed); }
  void stop() noexcept;  // Returns when the thread has ended.

 private:
  static constexpr std::chrono::microseconds kShortSleep{100};
  static constexpr std::chrono::microseconds kLongSleep{2000};
  static constexpr int kPolls = 20;  // Polls without work before the thread sleeps until woken.

  void run() noexcept;
  void sleep_between_polls();
  bool is_woken_between_polls(std::uint32_t seen);

  std::function<Work()> work_;
  bool polls_;
  std::chrono::microseconds next_sleep_ = kShortSleep;
  std::atomic<std::uint32_t> wakes_{0};
  std::atomic<bool> started_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rota
