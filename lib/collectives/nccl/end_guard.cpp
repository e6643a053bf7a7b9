// Waits for the destructor, in a thread of its own.
#include "collectives/nccl/end_guard.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace rota::collectives::nccl {

EndGuard::EndGuard(base::Duration longest, std::string text)
    : text_(std::move(text)), thread_([this, longest] { wait(longest); }) {}

EndGuard::~EndGuard() {
  {
    const std::scoped_lock lock(mutex_);
    has_returned_ = true;
  }
  returned_.notify_one();
  thread_.join();
}

void EndGuard::wait(base::Duration longest) {
  std::unique_lock lock(mutex_);
  if (returned_.wait_for(lock, longest, [this] { return has_returned_; })) return;
  std::fputs(text_.c_str(), stderr);
  std::_Exit(EXIT_FAILURE);  // Destructors and exit handlers would hang as well.
}

}  // namespace rota::collectives::nccl
