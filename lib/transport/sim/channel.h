// One rank's end of a simulated wire.
#pragma once
#include <cstddef>
#include <optional>

#include "transport/channel.h"
#include "transport/sim/network.h"

namespace rota::transport::sim {

class Channel final : public transport::Channel {
 public:
  Channel(Network& network, std::size_t rank, std::size_t peer) noexcept
      : network_(network), rank_(rank), peer_(peer) {}

  void start_send(const Header& header, std::span<const std::byte> payload) override;
  Progress progress_send() override;
  const Header* incoming() override;
  std::span<const std::byte> peek() override;
  void release(std::size_t bytes) override;
  std::size_t receive(std::span<std::byte> into) override;
  void finish_receive() override;

 private:
  void put(std::span<const std::byte> bytes);
  // All that came and was not used. Throws when the peer is lost and `needed` bytes cannot come.
  std::span<const std::byte> arrived(std::size_t needed);
  [[noreturn]] void throw_lost() const;

  Network& network_;
  std::size_t rank_;
  std::size_t peer_;
  std::span<const std::byte> to_send_;
  std::optional<Header> header_;
  std::size_t offset_ = 0;  // Bytes taken of the message that is arriving.
  std::size_t used_ = 0;    // Bytes of the wire's arrived ones that are used up.
};

}  // namespace rota::transport::sim
