// A channel a peer, and a wait for those that starve.
#include "transport/tcp/transport.h"

#include <utility>

#include "memory/host.h"

namespace rota::transport::tcp {

Transport::Transport(std::vector<os::Fd> sockets) {
  channels_.reserve(sockets.size());
  for (std::size_t peer = 0; peer < sockets.size(); ++peer) {
    channels_.emplace_back(std::move(sockets[peer]), peer);
  }
}

void Transport::rest(base::Duration at_most) {
  polls_.clear();
  const std::size_t wakeup = polls_.add(wakeup_.fd(), true, false);
  for (const Channel& channel : channels_) {
    if (channel.starved() || channel.sending()) {
      polls_.add(channel.fd(), channel.starved(), channel.sending());
    }
  }
  polls_.wait(base::Clock::now() + at_most);
  if (polls_.readable(wakeup)) wakeup_.clear();
}

Block Transport::allocate(std::size_t bytes) { return memory::allocate_host(bytes); }

void Transport::abort(const Cause&) noexcept {
  for (Channel& channel : channels_) channel.close();
}

}  // namespace rota::transport::tcp
