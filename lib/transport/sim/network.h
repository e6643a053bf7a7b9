// A network inside one thread that misbehaves as a seed says: delays, short writes, lost peers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "transport/channel.h"

namespace rota::transport::sim {

struct NetworkOptions {
  std::size_t world_size = 0;
  std::uint64_t seed = 0;
  std::uint64_t max_delay = 0;  // Ticks that a piece of a message may spend on its way.
  bool short_writes = false;    // Writes and reads move a random part of what they could.
};

class Network {
 public:
  explicit Network(const NetworkOptions& options);

  // The end of the wire between two ranks that `rank` holds. Lives as long as the Network.
  transport::Channel& channel(std::size_t rank, std::size_t peer) noexcept;

  // Time passes: one tick.
  void advance() noexcept { ++now_; }

  // The connections of `rank` break, as when its process dies: what is on its way still arrives.
  void lose(std::size_t rank) noexcept;

  // `rank` is heard no more, and nobody is told, as when its process is stopped.
  void silence(std::size_t rank) noexcept;

 private:
  friend class Channel;

  struct Piece {
    std::uint64_t due;
    std::vector<std::byte> bytes;
  };
  struct Wire {
    std::deque<Piece> pieces;
    std::vector<std::byte> arrived;
    std::uint64_t last_due = 0;
  };

  Wire& wire(std::size_t from, std::size_t to) noexcept {
    return wires_[from * options_.world_size + to];
  }
  std::size_t part_of(std::size_t bytes);  // How much of a write or read succeeds, at least 1.
  std::uint64_t draw_due(Wire& wire);

  NetworkOptions options_;
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::vector<Wire> wires_;
  std::vector<bool> lost_;
  std::vector<bool> silent_;
  std::vector<std::unique_ptr<transport::Channel>> channels_;
};

}  // namespace rota::transport::sim
