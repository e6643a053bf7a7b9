// Drives requests that nobody waits for.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace rota {

// Sleeps until woken, then works until `work` says that there is nothing left for it. Started at
// the first wake(), so that a program without asynchronous calls has no second thread.
class ProgressThread {
 public:
  // `work` is called again and again; it returns false to go back to sleep. It must not throw.
  // `nap`: where not 0, it looks again after each of a few naps before it sleeps so deeply that
  // waking it costs a call of the system's, and a core at the wrong time.
  explicit ProgressThread(std::function<bool()> work, std::chrono::microseconds nap = {})
      : work_(std::move(work)), nap_(nap) {}
  ~ProgressThread() { stop(); }

  void wake();
  bool has_started() const noexcept { return started_.load(std::memory_order_relaxed); }
  void stop() noexcept;  // Returns when the thread has ended.

 private:
  static constexpr int kNaps = 20;

  void run() noexcept;
  bool is_woken_from_naps(std::uint32_t seen) const;

  std::function<bool()> work_;
  std::chrono::microseconds nap_;
  std::atomic<std::uint32_t> wakes_{0};
  std::atomic<bool> started_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rota
