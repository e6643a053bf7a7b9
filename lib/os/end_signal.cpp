// A handler of SIGTERM that sets a flag, and wakes threads that wait for it. A blocked signal would
// not do: threads of other libraries may not block it, and one of them would end the process.
#include <rota/end_signal.h>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <mutex>

#include "base/time.h"
#include "os/system_error.h"

namespace rota {
namespace {

std::mutex watch_mutex;
std::size_t watch_count = 0;        // Of EndSignals.
struct sigaction action_before {};  // While there are EndSignals.
std::atomic<bool> has_signal_come = false;
std::atomic<int> wake_fd = -1;  // Readable once the signal has come. Stays open.

void take_note(int) {
  const int error = errno;
  has_signal_come = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_fd, &one, sizeof one);
  errno = error;
}

}  // namespace

EndSignal::EndSignal() {
  const std::lock_guard lock(watch_mutex);
  if (watch_count == 0) {
    if (wake_fd < 0) wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) os::throw_errno("eventfd");
    std::uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t count = ::read(wake_fd, &ignored, sizeof ignored);
    has_signal_come = false;
    struct sigaction action {};
    action.sa_handler = take_note;
    action.sa_flags = SA_RESTART;
    if (::sigaction(SIGTERM, &action, &action_before) != 0) {
      os::throw_errno("sigaction");
    }
  }
  ++watch_count;
}

EndSignal::~EndSignal() {
  const std::lock_guard lock(watch_mutex);
  if (--watch_count == 0) ::sigaction(SIGTERM, &action_before, nullptr);
}

bool EndSignal::has_come() const noexcept { return has_signal_come; }

// Waits on if another signal interrupts the wait.
bool EndSignal::wait_for(std::chrono::milliseconds limit) const noexcept {
  using std::chrono::milliseconds;
  const auto most = milliseconds(std::numeric_limits<int>::max());
  const auto end = base::Clock::now() + std::clamp(limit, milliseconds(0), most);
  pollfd wake{.fd = wake_fd, .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(end - base::Clock::now());
    const int most_wait = static_cast<int>(std::max(left, milliseconds(0)).count());
    if (::poll(&wake, 1, most_wait) >= 0 || errno != EINTR) return has_come();
  }
}

}  // namespace rota
