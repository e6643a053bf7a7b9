// A thread that runs one piece of work at a time for a thread that does not wait for it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.h"

namespace rota::checkpoint {

class WriterThread {
 public:
  // Throws Error kSystem.
  WriterThread();
  ~WriterThread();  // Waits for the work under way.
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;

  // Requires !is_working().
  void begin(std::function<void()> work);
  bool is_working() const noexcept { return is_working_.load(std::memory_order_acquire); }

  // Returns whether the work has ended by `deadline`.
  bool ends_by(base::TimePoint deadline);

  // Returns when the work has ended. Throws what the work threw.
  void wait();

 private:
  void run() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_working_{false};
  bool ends_ = false;
  std::function<void()> work_;
  std::exception_ptr failure_;
  std::thread thread_;  // Last: it uses the other members.
};

}  // namespace rota::checkpoint
