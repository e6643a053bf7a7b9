// Ends the process if a call of another library does not return. Such a call cannot be ended in any
// other way, and the process would hang.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.h"

namespace rota::collectives::nccl {

// The thread exists only while an EndGuard exists.
class EndGuard {
 public:
  // If the object still exists after `longest`, writes `text` to stderr and ends the process with
  // exit code 1. Throws std::system_error if there is no thread left.
  EndGuard(base::Duration longest, std::string text);
  ~EndGuard();
  EndGuard(const EndGuard&) = delete;
  EndGuard& operator=(const EndGuard&) = delete;

 private:
  void wait(base::Duration longest);

  std::string text_;
  std::mutex mutex_;
  std::condition_variable returned_;
  bool has_returned_ = false;
  std::thread thread_;
};

}  // namespace rota::collectives::nccl
