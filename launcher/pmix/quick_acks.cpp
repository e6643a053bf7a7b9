// Asks the kernel to acknowledge what arrives over TCP at once.
#include "launcher/pmix/quick_acks.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;

// Ranks send the messages of MPI_Finalize within this time after the last fence.
constexpr milliseconds kLasts{30};
constexpr milliseconds kEvery{2};

}  // namespace

void QuickAcks::on_event(base::TimePoint now) noexcept {
  end_ = now + kLasts;
  if (!next_) next_ = now + kEvery;
}

void QuickAcks::ask(base::TimePoint now) {
  if (!next_ || now < *next_) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    const int on = 1;  // Other descriptors than TCP sockets refuse it.
    ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
  }
  next_ = now < end_ ? std::optional(now + kEvery) : std::nullopt;
}

}  // namespace rota::launcher
