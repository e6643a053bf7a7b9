// Simulates a network inside one thread. A seed decides how the network misbehaves: delays, short
// writes, lost peers. Two ranks have wires once one of them has asked for its channel to the other,
// so a world of thousands of ranks has only the wires that its plans use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "transport/channel.h"

namespace rota::transport::sim {

struct NetworkOptions {
  std::size_t world_size = 0;
  std::uint64_t seed = 0;
  std::uint64_t max_delay = 0;  // Longest delay of a piece of a message, in ticks.
  bool short_writes = false;    // Writes and reads move a random part of the bytes.
};

class Network {
 public:
  explicit Network(const NetworkOptions& options);

  // Returns `rank`'s end of the wires to and from `peer`. Makes it at the first call for these two
  // ranks. The channel lives as long as the Network.
  transport::Channel& channel(std::size_t rank, std::size_t peer);

  // Returns the number of wires so far. A wire carries data in one direction.
  std::size_t wire_count() const noexcept { return wires_.size(); }

  // Advances the time by one tick.
  void advance() noexcept { ++now_; }

  // Breaks the connections of `rank`, as if its process had died. Data under way still arrives.
  void lose(std::size_t rank) noexcept;

  // Drops all data that `rank` sends from now on, and tells no peer, as if its process were
  // suspended.
  void silence(std::size_t rank) noexcept;

 private:
  friend class SimChannel;

  struct Piece {
    std::uint64_t due;
    std::vector<std::byte> bytes;
  };
  struct Wire {
    std::deque<Piece> pieces;
    std::vector<std::byte> arrived;
    std::uint64_t last_due = 0;
  };

  using Pair = std::pair<std::size_t, std::size_t>;  // Two ranks.

  // Makes the wire if there is none yet. A wire keeps its address.
  Wire& wire(std::size_t from, std::size_t to) { return wires_[{from, to}]; }
  std::size_t part_of(std::size_t bytes);  // Returns how many of `bytes` one write or read moves.
  std::uint64_t draw_due(Wire& wire);

  NetworkOptions options_;
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::map<Pair, Wire> wires_;  // Key: the sender, and the receiver.
  std::vector<bool> lost_;
  std::vector<bool> silent_;
  std::map<Pair, std::unique_ptr<transport::Channel>> channels_;  // Key: the rank, and its peer.
};

}  // namespace rota::transport::sim
