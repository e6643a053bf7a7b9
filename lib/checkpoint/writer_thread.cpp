// Waits for work, runs it, and keeps what it throws.
#include "checkpoint/writer_thread.h"

#include <utility>

#include "os/quiet_thread.h"

namespace rota::checkpoint {

WriterThread::WriterThread() : thread_(os::start_quiet_thread([this] { run(); })) {}

WriterThread::~WriterThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WriterThread::begin(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    failure_ = nullptr;
    is_working_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_all();
}

bool WriterThread::ends_by(base::TimePoint deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return !is_working(); });
}

void WriterThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_working(); });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WriterThread::run() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || is_working(); });
    if (!is_working()) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    is_working_.store(false, std::memory_order_release);
    changed_.notify_all();
  }
}

}  // namespace rota::checkpoint
