// Each thread takes the next piece that nobody has taken.
#include "checkpoint/pieces.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "os/quiet_thread.h"

namespace rota::checkpoint {
namespace {

constexpr std::size_t kMostThreads = 4;  // More of them gain little: they share the memory's speed.
constexpr std::size_t kLeastPieces = 4;  // Of a thread. Fewer take less time than its start.

class SharedWork {
 public:
  SharedWork(std::size_t count, const std::function<void(std::size_t)>& work)
      : count_(count), work_(work) {}

  // No piece is taken after a failure, so all pieces before the failed one have been taken.
  void take_pieces() noexcept {
    while (!has_failed_.load(std::memory_order_relaxed)) {
      const std::size_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= count_) return;
      try {
        work_(piece);
      } catch (...) {
        note(piece, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void note(std::size_t piece, std::exception_ptr failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (!failure_ || piece < failed_) {
      failed_ = piece;
      failure_ = std::move(failure);
    }
    has_failed_.store(true, std::memory_order_relaxed);
  }

  std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::size_t failed_ = 0;
  std::exception_ptr failure_;
};

std::size_t thread_count_for(std::size_t pieces) {
  const std::size_t cpus = std::max(1U, std::thread::hardware_concurrency());
  return std::max<std::size_t>(1, std::min({kMostThreads, cpus, pieces / kLeastPieces}));
}

}  // namespace

void for_each_piece(std::size_t count, const std::function<void(std::size_t piece)>& work) {
  SharedWork shared(count, work);
  std::vector<std::thread> threads;
  threads.reserve(kMostThreads);
  try {
    while (threads.size() + 1 < thread_count_for(count)) {
      threads.push_back(os::start_quiet_thread([&shared] { shared.take_pieces(); }));
    }
  } catch (...) {
    // The system allows no more threads, or has no memory for them. Those that there are do the
    // work.
  }
  shared.take_pieces();
  for (std::thread& thread : threads) thread.join();
  shared.rethrow();
}

}  // namespace rota::checkpoint
