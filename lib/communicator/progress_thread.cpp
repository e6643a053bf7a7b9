// A thread that sleeps until it is woken.
#include "communicator/progress_thread.h"

#include <csignal>

namespace rota {

void ProgressThread::wake() {
  if (!thread_.joinable()) {
    // Signals belong to the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
    if (!work_()) wakes_.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace rota
