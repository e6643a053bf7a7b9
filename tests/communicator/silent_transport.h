// A transport over which nothing ever arrives. Tests override what they need.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "communicator/group.h"
#include "memory/host_block.h"
#include "transport/transport.h"

namespace rota::testing {

class SilentChannel : public transport::Channel {
 public:
  void start_send(const transport::Header&, std::span<const std::byte>) override {}
  void send_more(std::span<const std::byte>) override {}
  transport::Progress progress_send() override { return transport::Progress::kNone; }
  const transport::Header* incoming() override { return nullptr; }
  std::span<const std::byte> peek() override { return {}; }
  void release(std::size_t) override {}
  std::size_t receive(std::span<std::byte>) override { return 0; }
  void finish_receive() override {}
};

class SilentTransport : public transport::Transport {
 public:
  std::string_view name() const noexcept override { return "toy"; }
  transport::Channel& channel(std::size_t) noexcept override { return channel_; }
  void sleep(base::Duration) override {}
  void wake() noexcept override {}
  bool ends_by_itself(std::size_t) const noexcept override { return false; }
  Block allocate(std::size_t bytes) override { return memory::allocate_host(bytes); }
  std::uint64_t sent_bytes() const noexcept override { return 0; }
  std::uint64_t staged_bytes() const noexcept override { return 0; }
  void abort(const transport::Cause&) noexcept override {}
  bool broken() const noexcept override { return false; }
  std::optional<transport::Cause> aborted() override { return std::nullopt; }

 private:
  SilentChannel channel_;
};

// Returns the group of rank 0 of two ranks, on hosts "a" and "b".
inline Group group_over(std::unique_ptr<transport::Transport> transport, base::Duration deadline) {
  Group group;
  group.table.transport = transport->name();
  group.table.rows.resize(2);
  group.table.rows[0].host = "a";
  group.table.rows[1].host = "b";
  group.members = {0, 1};
  group.deadline = deadline;
  group.transport = std::move(transport);
  return group;
}

}  // namespace rota::testing
