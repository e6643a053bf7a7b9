// Ranks that are connected pair by pair.
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
  // Index = peer; the own entry is empty. `name`: another one where other ranks of the group have
  // more than TCP. Throws Error kSystem.
  explicit Transport(std::vector<auth::Stream> streams, std::string_view name = "tcp");

  std::string_view name() const noexcept override { return name_; }
  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  void rest(base::Duration at_most) override;
  void wake() noexcept override { wakeup_.wake(); }
  bool ends_by_itself(std::size_t) const noexcept override { return true; }
  std::unique_ptr<Fabric> found(const Site& site) override;
  Block allocate(std::size_t bytes) override;
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;  // What arrived to be reduced.

  std::size_t world_size() const noexcept { return channels_.size(); }

  // For who waits for more than this: what rest() would wait for, and what it does after the wait.
  void add_to(os::PollSet& polls);
  void heed(const os::PollSet& polls) noexcept;

  // Where some peer, whichever, reaches this rank. Throws Error kSystem.
  os::Address local_address() const;

  // Closes every connection: peers that wait for this rank fail at once.
  void abort(const Cause& cause) noexcept override;
  bool broken() const noexcept override { return false; }
  std::optional<Cause> aborted() override { return std::nullopt; }  // TCP carries no cause.

 private:
  std::string_view name_;
  std::deque<Channel> channels_;
  os::PollSet polls_;
  os::Wakeup wakeup_;
  std::size_t wakeup_position_ = 0;  // In the set that is waited for.
};

// As transport::Join.
std::unique_ptr<transport::Transport> join(const Site& site, Lent lent, const CallTerms& terms,
                                           base::TimePoint deadline);

}  // namespace rota::transport::tcp
