// The functions with which the linker replaces system calls and the clock.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "simulation/machine.h"

namespace sim = rota::simulation;
using rota::base::Duration;
using rota::base::TimePoint;

namespace {

// Copies in pieces, because other threads may run in the middle of a copy.
void copy_in_pieces(const sim::Inside& here, void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kMostPieces = 16;
  constexpr std::size_t kLine = 64;
  const std::size_t piece = (bytes / kMostPieces / kLine + 1) * kLine;
  for (std::size_t at = 0; at < bytes; at += piece) {
    if (at > 0) {
      here->memory.settle();
      here->scheduler.may_switch();
    }
    here->memory.copy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at,
                      std::min(piece, bytes - at));
  }
}

}  // namespace

// NOLINTBEGIN: the names are the linker's.
extern "C" {

std::int64_t __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  const sim::Inside here;
  if (!here) return __real__ZNSt6chrono3_V212steady_clock3nowEv();
  return here->scheduler.now().time_since_epoch().count();
}

// The kernel adds pages when they are touched. Adding pages that no rank touches would only take
// time.
int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return mode == 0 ? 0 : __real_fallocate(fd, mode, offset, bytes);
}

// Reports one core, whatever the machine has, so a rank that waits yields.
unsigned __wrap__ZNSt6thread20hardware_concurrencyEv() { return 1; }

int __real_nanosleep(const timespec* rest, timespec* left);
int __wrap_nanosleep(const timespec* rest, timespec* left) {
  const sim::Inside here;
  if (!here) return __real_nanosleep(rest, left);
  here->memory.settle();
  here->scheduler.sleep(std::chrono::seconds(rest->tv_sec) + Duration(rest->tv_nsec));
  return 0;
}

int __real_sched_yield();
int __wrap_sched_yield() {
  const sim::Inside here;
  if (!here) return __real_sched_yield();
  here->memory.settle();
  here->scheduler.yield();
  return 0;
}

void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  const sim::Inside here;
  if (!here) return __real_memcpy(to, from, bytes);
  copy_in_pieces(here, to, from, bytes);
  return to;
}

void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  const sim::Inside here;
  if (!here) return __real_memmove(to, from, bytes);
  here->memory.copy(to, from, bytes);
  return to;
}

ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  if (!sim::Streams::is_one(fd)) return __real_sendmsg(fd, message, flags);
  const sim::Inside here;
  if (!here) return -1;
  std::span<const std::byte> parts[2];
  for (std::size_t i = 0; i < message->msg_iovlen; ++i) {
    parts[i] = {static_cast<const std::byte*>(message->msg_iov[i].iov_base),
                message->msg_iov[i].iov_len};
  }
  here->memory.settle();
  here->scheduler.may_switch();
  return here->streams.send(fd, std::span(parts).first(message->msg_iovlen));
}

ssize_t __real_recv(int fd, void* into, std::size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void* into, std::size_t bytes, int flags) {
  if (!sim::Streams::is_one(fd)) return __real_recv(fd, into, bytes, flags);
  const sim::Inside here;
  if (!here) return -1;
  here->memory.settle();
  here->scheduler.may_switch();
  if (flags & MSG_PEEK) return here->streams.peek(fd, {static_cast<std::byte*>(into), bytes});
  return here->streams.receive(fd, {static_cast<std::byte*>(into), bytes});
}

int __real_setsockopt(int fd, int level, int option, const void* value, socklen_t bytes);
int __wrap_setsockopt(int fd, int level, int option, const void* value, socklen_t bytes) {
  if (!sim::Streams::is_one(fd)) return __real_setsockopt(fd, level, option, value, bytes);
  return 0;
}

int __real_close(int fd);
int __wrap_close(int fd) {
  if (!sim::Streams::is_one(fd)) return __real_close(fd);
  const sim::Inside here;
  if (here) here->streams.close(fd);
  return 0;
}

int __real_ppoll(pollfd* items, nfds_t count, const timespec* rest, const sigset_t* mask);
int __wrap_ppoll(pollfd* items, nfds_t count, const timespec* rest, const sigset_t* mask) {
  const sim::Inside here;
  if (!here) return __real_ppoll(items, count, rest, mask);
  here->memory.settle();
  const std::function<bool()> look = [&] {
    bool any = false;
    for (pollfd& item : std::span(items, count)) {
      item.revents = 0;
      if (!sim::Streams::is_one(item.fd)) continue;
      const bool reads = (item.events & POLLIN) && here->streams.is_readable(item.fd);
      const bool writes = (item.events & POLLOUT) && here->streams.is_writable(item.fd);
      item.revents = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
      any = any || reads || writes;
    }
    return any;
  };
  TimePoint until = TimePoint::max();
  if (rest) {
    until = here->scheduler.now() + std::chrono::seconds(rest->tv_sec) + Duration(rest->tv_nsec);
  }
  if (!look()) here->scheduler.wait(look, until);
  look();
  return 0;
}
}
// NOLINTEND
