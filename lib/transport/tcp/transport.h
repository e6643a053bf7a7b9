// Connects ranks pair by pair over TCP.
#pragma once
#include <deque>
#include <vector>

#include "os/address.h"
#include "os/poll_set.h"
#include "transport/tcp/channel.h"
#include "transport/transport.h"

namespace rota::transport::tcp {

class Transport final : public transport::Transport {
 public:
  // `streams`: index = peer; this rank's own entry is empty. `name`: another name if other ranks of
  // the group use more than TCP. Throws Error kSystem.
  explicit Transport(std::vector<auth::Stream> streams, std::string_view name = "tcp");

  std::string_view name() const noexcept override { return name_; }
  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  void sleep(base::Duration at_most) override;
  void wake() noexcept override { wakeup_.wake(); }
  bool ends_by_itself(std::size_t) const noexcept override { return true; }
  std::unique_ptr<Fabric> group_fabric(const GroupShape& shape) override;
  Block allocate(std::size_t bytes) override;
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;  // Bytes that arrived to be reduced.

  std::size_t world_size() const noexcept { return channels_.size(); }

  // These two functions are for a caller that waits for more than this transport. add_to() adds
  // what sleep() would wait for. handle() does what sleep() does after the wait.
  void add_to(os::PollSet& polls);
  void handle(const os::PollSet& polls) noexcept;

  // Returns an address at which some peer reaches this rank. Throws Error kClosed when no
  // connection is open, kSystem.
  os::Address local_address() const;

  // Closes every connection: peers that wait for this rank fail immediately.
  void abort(const Cause& cause) noexcept override;
  bool broken() const noexcept override { return false; }
  std::optional<Cause> aborted() override { return std::nullopt; }  // TCP carries no cause.

 private:
  std::string_view name_;
  std::deque<SocketChannel> channels_;
  os::PollSet polls_;
  os::Wakeup wakeup_;
  std::size_t wakeup_position_ = 0;  // In the PollSet of the wait.
};

// Makes a rank's first transport, as transport::Join describes.
std::unique_ptr<transport::Transport> join(const GroupShape& shape, Descriptors descriptors,
                                           const CallTerms& terms, base::TimePoint deadline);

}  // namespace rota::transport::tcp
