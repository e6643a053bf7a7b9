// "Ring and sleep": a rank that sleeps until a connection has bytes is woken by a local peer, which
// has written to memory alone. No wake-up is lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "orders/exploration.h"
#include "orders/weakening.h"
#include "transport/mixed_transport.h"

namespace rota::orders {
namespace {

// The connections of the program under exploration. What a rank does before it sends a byte is
// known to the rank that receives the byte. The descriptor of rank r's connection to rank p is
// kFirst + r * kMostRanks + p.
constexpr int kFirst = 1 << 20;
constexpr std::size_t kMostRanks = 3;
constexpr int kEvent = kFirst + static_cast<int>(kMostRanks * kMostRanks);

struct Connections {
  // Index = the receiving descriptor - kFirst.
  std::array<std::atomic<int>, kMostRanks * kMostRanks> sent{};
  std::array<int, kMostRanks * kMostRanks> taken{};

  bool is_readable(int fd) {
    const auto at = static_cast<std::size_t>(fd - kFirst);
    return fd < kEvent && sent[at].load(std::memory_order_acquire) > taken[at];
  }
};
Connections* connections = nullptr;

bool is_ours(int fd) { return exploration && fd >= kFirst; }

std::size_t other_end(int fd) {
  const auto at = static_cast<std::size_t>(fd - kFirst);
  return at % kMostRanks * kMostRanks + at / kMostRanks;
}

}  // namespace
}  // namespace rota::orders

namespace orders = rota::orders;

// NOLINTBEGIN: the names are the linker's.
extern "C" {

int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return orders::exploration ? 0 : __real_fallocate(fd, mode, offset, bytes);
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags) {
  return orders::exploration ? orders::kEvent : __real_eventfd(count, flags);
}

int __real_setsockopt(int fd, int level, int option, const void* value, socklen_t bytes);
int __wrap_setsockopt(int fd, int level, int option, const void* value, socklen_t bytes) {
  return orders::is_ours(fd) ? 0 : __real_setsockopt(fd, level, option, value, bytes);
}

int __real_close(int fd);
int __wrap_close(int fd) { return orders::is_ours(fd) ? 0 : __real_close(fd); }

ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  if (!orders::is_ours(fd)) return __real_sendmsg(fd, message, flags);
  orders::connections->sent[orders::other_end(fd)].fetch_add(1, std::memory_order_release);
  return 1;
}

ssize_t __real_recv(int fd, void* into, std::size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void* into, std::size_t bytes, int flags) {
  if (!orders::is_ours(fd)) return __real_recv(fd, into, bytes, flags);
  if (!orders::connections->is_readable(fd)) {
    errno = EAGAIN;
    return -1;
  }
  ++orders::connections->taken[static_cast<std::size_t>(fd - orders::kFirst)];
  return 1;
}

int __real_ppoll(pollfd* items, nfds_t count, const timespec* rest, const sigset_t* mask);
int __wrap_ppoll(pollfd* items, nfds_t count, const timespec* rest, const sigset_t* mask) {
  if (!orders::exploration) return __real_ppoll(items, count, rest, mask);
  orders::wait_until([&] {
    bool any = false;
    for (pollfd& item : std::span(items, count)) {
      item.revents = orders::connections->is_readable(item.fd) ? POLLIN : 0;
      any = any || item.revents != 0;
    }
    return any;
  });
  return 1;
}
}
// NOLINTEND

namespace rota::orders {
namespace {

using transport::MixedTransport;
using transport::Progress;

const std::shared_ptr<transport::shm::Domain>& domain_of(std::size_t ranks) {
  static const auto two = transport::shm::make_thread_arenas(2, std::size_t{64} * 1024);
  static const auto three = transport::shm::make_thread_arenas(3, std::size_t{64} * 1024);
  return ranks == 2 ? two : three;
}

std::vector<std::span<std::byte>> arenas(std::size_t ranks) {
  std::vector<std::span<std::byte>> arenas;
  for (std::size_t rank = 0; rank < ranks; ++rank) arenas.push_back(domain_of(ranks)->bytes(rank));
  return arenas;
}

std::unique_ptr<MixedTransport> transport_of(std::size_t rank, std::size_t ranks) {
  std::vector<std::size_t> names;
  std::vector<auth::Stream> streams;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    names.push_back(peer);
    const int fd = peer == rank ? -1 : kFirst + static_cast<int>(rank * kMostRanks + peer);
    streams.emplace_back(os::Fd(fd));
  }
  return std::make_unique<MixedTransport>(
      std::make_unique<transport::shm::Transport>(domain_of(ranks), rank, names), names,
      std::move(streams));
}

constexpr std::chrono::seconds kLong{1};

void receive(MixedTransport& transport, std::size_t from, std::uint64_t number) {
  transport::Channel& channel = transport.channel(from);
  const transport::Header* header = nullptr;
  while (!(header = channel.incoming())) transport.sleep(kLong);
  expect(header->signature[0] == number, "the message is the next one");
  channel.finish_receive();
}

// A rank sends `count` messages, and sleeps until each of them has been taken.
void send(MixedTransport& transport, std::size_t to, std::uint64_t count) {
  for (std::uint64_t number = 1; number <= count; ++number) {
    transport.channel(to).start_send({.signature = {number}}, {});
    while (transport.channel(to).progress_send() != Progress::kDone) transport.sleep(kLong);
  }
}

template <std::uint64_t kCount>
void both_sleep() {
  Connections wires;
  connections = &wires;
  const auto sender = transport_of(0, 2);
  const auto receiver = transport_of(1, 2);
  std::thread sends([&] { send(*sender, 1, kCount); });
  std::thread receives([&] {
    for (std::uint64_t number = 1; number <= kCount; ++number) receive(*receiver, 0, number);
  });
  sends.join();
  receives.join();
}

// A rank sends messages, and does not sleep while it waits for the other rank, which does.
void one_sleeps() {
  Connections wires;
  connections = &wires;
  const auto sender = transport_of(0, 2);
  const auto receiver = transport_of(1, 2);
  std::thread sends([&] {
    for (std::uint64_t number = 1; number <= 2; ++number) {
      sender->channel(1).start_send({.signature = {number}}, {});
      wait_until([&] { return sender->channel(1).progress_send() == Progress::kDone; });
    }
  });
  std::thread receives([&] {
    for (std::uint64_t number = 1; number <= 2; ++number) receive(*receiver, 0, number);
  });
  sends.join();
  receives.join();
}

// Two ranks ring for a third one, which sleeps until both have.
void two_ring() {
  Connections wires;
  connections = &wires;
  const auto sleeper = transport_of(0, 3);
  const auto first = transport_of(1, 3);
  const auto second = transport_of(2, 3);
  const auto ring = [](MixedTransport& transport) {
    return std::thread([&] { transport.channel(0).start_send({.signature = {1}}, {}); });
  };
  std::thread sleeps([&] {
    receive(*sleeper, 1, 1);
    receive(*sleeper, 2, 1);
  });
  std::thread rings_first = ring(*first);
  std::thread rings_second = ring(*second);
  sleeps.join();
  rings_first.join();
  rings_second.join();
}

TEST(Doorbell, NeedsItsOrders) {
  expect_needed_orders({"lib/transport/mixed_transport.cpp", "lib/transport/socket_doorbell.cpp"},
                       {{"both sleep", both_sleep<1>, arenas(2)},
                        {"one sleeps", one_sleeps, arenas(2)},
                        {"two ring", two_ring, arenas(3)}});
}

}  // namespace
}  // namespace rota::orders
