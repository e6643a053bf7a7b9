// Draws delays and short writes from the seed.
#include "transport/sim/network.h"

#include <algorithm>

#include "transport/sim/channel.h"

namespace rota::transport::sim {

Network::Network(const NetworkOptions& options)
    : options_(options),
      random_(options.seed),
      lost_(options.world_size),
      silent_(options.world_size) {}

transport::Channel& Network::channel(std::size_t rank, std::size_t peer) {
  auto& channel = channels_[{rank, peer}];
  if (!channel) channel = std::make_unique<SimChannel>(*this, rank, peer);
  return *channel;
}

void Network::lose(std::size_t rank) noexcept { lost_[rank] = true; }

void Network::silence(std::size_t rank) noexcept { silent_[rank] = true; }

std::size_t Network::part_of(std::size_t bytes) {
  if (!options_.short_writes || bytes <= 1) return bytes;
  return std::uniform_int_distribution<std::size_t>(1, bytes)(random_);
}

// Draws when the next piece arrives. Pieces keep their order, whatever their delays.
std::uint64_t Network::draw_due(Wire& wire) {
  const std::uint64_t delay =
      std::uniform_int_distribution<std::uint64_t>(0, options_.max_delay)(random_);
  wire.last_due = std::max(wire.last_due, now_ + delay);
  return wire.last_due;
}

}  // namespace rota::transport::sim
