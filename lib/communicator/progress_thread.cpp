// The progress thread works, polls, and sleeps until it is woken.
#include "communicator/progress_thread.h"

#include <algorithm>

#include "os/quiet_thread.h"

namespace rota {

void ProgressThread::start() {
  thread_ = os::start_quiet_thread([this] { run(); });
  started_.store(true, std::memory_order_relaxed);
}

// Sequentially consistent: notify_one() of libstdc++ makes no system call if it counts no thread in
// wait(), and its load of that count must not come before the change. This pairs with wait(), which
// counts the thread before it compares the value. ARMv7 could otherwise lose the wake-up.
void ProgressThread::wake() noexcept {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  wakes_.notify_one();
}

void ProgressThread::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  wake();
  thread_.join();
}

void ProgressThread::run() noexcept {
  while (true) {
    // The count is read before anything else, so that a wake() after this point is not missed.
    const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) return;
    const Work work = work_();
    if (work == Work::kMoves) next_sleep_ = kShortSleep;
    if (work == Work::kStands && polls_) sleep_between_polls();
    if (work != Work::kNone || is_woken_between_polls(seen)) continue;
    wakes_.wait(seen, std::memory_order_acquire);
  }
}

void ProgressThread::sleep_between_polls() {
  std::this_thread::sleep_for(next_sleep_);
  next_sleep_ = std::min(4 * next_sleep_, kLongSleep);
}

// Polls for a while without work, and returns true if the thread was woken. It is cheaper than
// wait(): to wake a thread from wait() costs a system call, and interrupts a thread that computes.
bool ProgressThread::is_woken_between_polls(std::uint32_t seen) {
  for (int polls = polls_ ? kPolls : 0; polls > 0; --polls) {
    next_sleep_ = kLongSleep;
    sleep_between_polls();
    if (wakes_.load(std::memory_order_acquire) != seen) return true;
  }
  return false;
}

}  // namespace rota
