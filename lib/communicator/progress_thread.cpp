// A thread that sleeps until it is woken.
#include "communicator/progress_thread.h"

#include "os/quiet_thread.h"

namespace rota {

void ProgressThread::wake() {
  if (!thread_.joinable()) {
    thread_ = os::start_quiet_thread([this] { run(); });
    started_.store(true, std::memory_order_relaxed);
  }
  wakes_.fetch_add(1, std::memory_order_release);
  wakes_.notify_one();
}

void ProgressThread::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  wakes_.fetch_add(1, std::memory_order_release);
  wakes_.notify_one();
  thread_.join();
}

void ProgressThread::run() noexcept {
  while (!stopping_.load(std::memory_order_acquire)) {
    const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
    if (work_() || is_woken_from_naps(seen)) continue;
    wakes_.wait(seen, std::memory_order_acquire);
  }
}

bool ProgressThread::is_woken_from_naps(std::uint32_t seen) const {
  if (nap_ == std::chrono::microseconds::zero()) return false;
  for (int nap = 0; nap < kNaps; ++nap) {
    std::this_thread::sleep_for(nap_);
    if (wakes_.load(std::memory_order_acquire) != seen) return true;
  }
  return false;
}

}  // namespace rota
