// Connects ranks of several domains: over shared memory inside a domain, over TCP between domains.
// Ranks of one domain (local peers) have a TCP connection as well, to wake each other.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "os/poll_set.h"
#include "transport/shm/transport.h"
#include "transport/socket_doorbell.h"
#include "transport/tcp/transport.h"
#include "transport/transport.h"

namespace rota::transport {

class MixedTransport final : public Transport {
 public:
  // The name on all ranks of the group, even on a rank that is alone in its domain and uses only
  // TCP.
  static constexpr std::string_view kName = "shm+tcp";

  // `inside` is the transport of the ranks `local_peers`, in their order. `streams`: index = peer;
  // this rank's own entry is empty. Throws Error kSystem.
  MixedTransport(std::unique_ptr<shm::Transport> inside, std::vector<std::size_t> local_peers,
                 std::vector<auth::Stream> streams);

  std::string_view name() const noexcept override { return kName; }
  Channel& channel(std::size_t peer) noexcept override { return *channels_[peer]; }
  void sleep(base::Duration at_most) override;
  void wake() noexcept override { outside_.wake(); }
  bool ends_by_itself(std::size_t peer) const noexcept override;
  std::unique_ptr<Fabric> group_fabric(const GroupShape& shape) override;
  Block allocate(std::size_t bytes) override { return inside_->allocate(bytes); }
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;
  bool has_left(std::size_t peer) const noexcept override;
  void begin_abort(std::size_t rank) noexcept override { inside_->begin_abort(rank); }
  void abort(const Cause& cause) noexcept override;

  // Shows only aborts of local peers: no other rank reads the memory of this rank.
  std::optional<std::size_t> aborting() const noexcept override { return inside_->aborting(); }
  bool broken() const noexcept override { return inside_->broken(); }
  std::optional<Cause> aborted() override { return inside_->aborted(); }

 private:
  void wait_for_descriptors(base::Duration at_most);

  std::unique_ptr<shm::Transport> inside_;
  std::vector<std::size_t> local_peers_;
  std::deque<SocketDoorbell> doorbells_;  // One for each other local peer.
  tcp::Transport outside_;                // Has no connection to a local peer.
  std::vector<Channel*> channels_;        // Index = peer; this rank's own entry is never used.
  os::PollSet polls_;
  std::uint64_t heard_ = 0;  // The doorbell count before the latest checks of peers.
};

// Makes a rank's first transport, as transport::Join describes. A rank that is alone in its domain
// uses only TCP.
std::unique_ptr<Transport> join_mixed(const GroupShape& shape, Descriptors descriptors,
                                      const CallTerms& terms, base::TimePoint deadline);

}  // namespace rota::transport
