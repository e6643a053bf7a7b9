// Drives requests that nobody waits for.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace rota {

// Sleeps until woken, then works until `work` says that there is nothing left for it. Started at
// the first wake(), so that a program without asynchronous calls has no second thread.
class ProgressThread {
 public:
  // `work` is called again and again; it returns false to go back to sleep. It must not throw.
  explicit ProgressThread(std::function<bool()> work) : work_(std::move(work)) {}
  ~ProgressThread() { stop(); }

  void wake();
  void stop() noexcept;  // Returns when the thread has ended.

 private:
  void run() noexcept;

  std::function<bool()> work_;
  std::atomic<std::uint32_t> wakes_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rota
