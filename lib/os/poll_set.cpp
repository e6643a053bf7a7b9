// Waits for any of several descriptors, until a deadline.
#include "os/poll_set.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "os/system_error.h"

namespace rota::os {

std::size_t PollSet::add(int fd, bool for_reading, bool for_writing) {
  const int events = (for_reading ? POLLIN : 0) | (for_writing ? POLLOUT : 0);
  items_.push_back({fd, static_cast<short>(events), 0});
  return items_.size() - 1;
}

void PollSet::expect(std::size_t position) { expected_.push_back(position); }

void PollSet::wait(std::optional<base::TimePoint> deadline) {
  if (!expected_.empty()) deadline = base::TimePoint();  // Long past: do not wait.
  for (;;) {
    timespec rest{};
    if (deadline) {
      const auto left = std::max(base::Duration(0), base::Duration(*deadline - base::Clock::now()));
      rest.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
      rest.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    }
    if (::ppoll(items_.data(), items_.size(), deadline ? &rest : nullptr, nullptr) >= 0) break;
    if (errno != EINTR) throw_errno("poll");
  }
  for (const std::size_t position : expected_) items_[position].revents |= POLLIN;
}

bool PollSet::readable(std::size_t position) const noexcept {
  return (items_[position].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

bool PollSet::writable(std::size_t position) const noexcept {
  return (items_[position].revents & (POLLOUT | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_) throw_errno("eventfd");
}

// Both eventfd calls can fail only with EAGAIN: the descriptor is then already in the wanted state.
void Wakeup::wake() noexcept { (void)::eventfd_write(fd_.get(), 1); }

void Wakeup::clear() noexcept {
  eventfd_t count = 0;
  (void)::eventfd_read(fd_.get(), &count);
}

}  // namespace rota::os
