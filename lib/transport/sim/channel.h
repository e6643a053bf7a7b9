// Lets one rank send and receive over a simulated wire.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/channel.h"
#include "transport/sim/network.h"

namespace rota::transport::sim {

class SimChannel final : public transport::Channel {
 public:
  SimChannel(Network& network, std::size_t rank, std::size_t peer)
      : network_(network),
        rank_(rank),
        peer_(peer),
        outgoing_(network.wire(rank, peer)),
        incoming_(network.wire(peer, rank)) {}

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  void send_more(std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  void finish_receive() override;

 private:
  void put(std::span<const std::byte> bytes);
  // Returns all bytes that have arrived and are not used yet. Throws if the peer is lost and
  // `needed` bytes cannot arrive.
  std::span<const std::byte> arrived(std::size_t needed);
  // Returns whether a send fails: the peer is lost, and no data of the peer is unread, or nobody
  // has read that data for a while.
  bool has_ended();
  [[noreturn]] void throw_lost() const;

  Network& network_;
  std::size_t rank_;
  std::size_t peer_;
  Network::Wire& outgoing_;
  Network::Wire& incoming_;
  std::span<const std::byte> to_send_;
  std::optional<std::uint64_t> lost_at_;  // The time of the first send that found the peer lost.
  std::optional<Header> header_;
  std::size_t offset_ = 0;  // Bytes taken of the arriving message.
  std::size_t used_ = 0;    // Used bytes at the front of `arrived` of the incoming wire.
};

}  // namespace rota::transport::sim
