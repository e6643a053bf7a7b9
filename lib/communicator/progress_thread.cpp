// A thread that sleeps until it is woken.
#include "communicator/progress_thread.h"

#include <algorithm>

#include "os/quiet_thread.h"

namespace rota {

void ProgressThread::start() {
  thread_ = os::start_quiet_thread([this] { run(); });
  started_.store(true, std::memory_order_relaxed);
}

void ProgressThread::wake() noexcept {
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
  while (true) {
    // Before anything is looked at: what is said after that is not slept over.
    const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) return;
    const Work work = work_();
    if (work == Work::kMoves) next_nap_ = kShortNap;
    if (work == Work::kStands && naps_) nap();
    if (work != Work::kNone || is_woken_from_naps(seen)) continue;
    wakes_.wait(seen, std::memory_order_acquire);
  }
}

void ProgressThread::nap() {
  std::this_thread::sleep_for(next_nap_);
  next_nap_ = std::min(4 * next_nap_, kLongNap);
}

// To wake it from deep sleep costs a call of the system's, and a core at the wrong time.
bool ProgressThread::is_woken_from_naps(std::uint32_t seen) {
  for (int naps = naps_ ? kNaps : 0; naps > 0; --naps) {
    next_nap_ = kLongNap;
    nap();
    if (wakes_.load(std::memory_order_acquire) != seen) return true;
  }
  return false;
}

}  // namespace rota
