// Has one channel per peer, and waits for the channels that lack data or room.
#include "transport/tcp/transport.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "memory/host_block.h"
#include "transport/domain_fabric.h"
#include "transport/tcp/connect.h"

namespace rota::transport::tcp {

std::unique_ptr<Fabric> Transport::group_fabric(const GroupShape& shape) {
  return domain_fabric(shape, nullptr);
}

Transport::Transport(std::vector<auth::Stream> streams, std::string_view name) : name_(name) {
  for (std::size_t peer = 0; peer < streams.size(); ++peer) {
    channels_.emplace_back(std::move(streams[peer]), peer);
  }
}

void Transport::sleep(base::Duration at_most) {
  polls_.clear();
  add_to(polls_);
  polls_.wait(base::Clock::now() + at_most);
  handle(polls_);
}

void Transport::add_to(os::PollSet& polls) {
  wakeup_position_ = polls.add(wakeup_.fd(), true, false);
  for (const SocketChannel& channel : channels_) {
    if (channel.starved() || channel.waits_for_room()) {
      polls.add(channel.fd(), channel.starved(), channel.waits_for_room());
    }
  }
}

void Transport::handle(const os::PollSet& polls) noexcept {
  if (polls.readable(wakeup_position_)) wakeup_.clear();
}

std::uint64_t Transport::sent_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const SocketChannel& channel : channels_) total += channel.sent_bytes();
  return total;
}

std::uint64_t Transport::staged_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const SocketChannel& channel : channels_) total += channel.staged_bytes();
  return total;
}

Block Transport::allocate(std::size_t bytes) { return memory::allocate_host(bytes); }

os::Address Transport::local_address() const {
  const auto connected = std::ranges::find_if(
      channels_, [](const SocketChannel& channel) { return channel.fd() >= 0; });
  if (connected == channels_.end()) throw Error(ErrorCode::kClosed, "the communicator was closed");
  return os::local_address(connected->fd());
}

void Transport::abort(const Cause&) noexcept {
  for (SocketChannel& channel : channels_) channel.close();
}

std::unique_ptr<transport::Transport> join(const GroupShape& shape, Descriptors descriptors,
                                           const CallTerms& terms, base::TimePoint deadline) {
  return std::make_unique<Transport>(
      connect_all(shape.own.front(), terms, descriptors.listener.get(), deadline));
}

}  // namespace rota::transport::tcp
