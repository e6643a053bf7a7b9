// Ranks of several islands: over shared memory inside of each, over TCP between them. Those of one,
// mates, are connected by TCP as well, to wake each other.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "os/poll_set.h"
#include "transport/bell.h"
#include "transport/shm/transport.h"
#include "transport/tcp/transport.h"
#include "transport/transport.h"

namespace rota::transport {

class MixedTransport final : public Transport {
 public:
  // Of a group that has it: also on ranks that are alone on their islands, and have TCP alone.
  static constexpr std::string_view kName = "shm+tcp";

  // `inside` is that of the ranks `mates`, in their order. `streams`: index = peer; the own entry
  // is empty. Throws Error kSystem.
  MixedTransport(std::unique_ptr<shm::Transport> inside, std::vector<std::size_t> mates,
                 std::vector<auth::Stream> streams);

  std::string_view name() const noexcept override { return kName; }
  Channel& channel(std::size_t peer) noexcept override { return *channels_[peer]; }
  void rest(base::Duration at_most) override;
  void wake() noexcept override { outside_.wake(); }
  bool ends_by_itself(std::size_t peer) const noexcept override;
  std::unique_ptr<Fabric> found(const Site& site) override;
  Block allocate(std::size_t bytes) override { return inside_->allocate(bytes); }
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;
  bool has_left(std::size_t peer) const noexcept override;
  void begin_abort(std::size_t rank) noexcept override { inside_->begin_abort(rank); }
  void abort(const Cause& cause) noexcept override;

  // Of mates alone: no other rank reads this one's memory.
  std::optional<std::size_t> aborting() const noexcept override { return inside_->aborting(); }
  bool broken() const noexcept override { return inside_->broken(); }
  std::optional<Cause> aborted() override { return inside_->aborted(); }

 private:
  void sleep(base::Duration at_most);

  std::unique_ptr<shm::Transport> inside_;
  std::vector<std::size_t> mates_;
  std::deque<Bell> bells_;          // Of the other mates.
  tcp::Transport outside_;          // Has no connection to a mate.
  std::vector<Channel*> channels_;  // Index = peer; the own rank's is never used.
  os::PollSet polls_;
  std::uint64_t heard_ = 0;  // Rings, before all that has been looked at since.
};

// As transport::Join. A rank that is alone on its island has TCP alone.
std::unique_ptr<Transport> join_mixed(const Site& site, Lent lent, const CallTerms& terms,
                                      base::TimePoint deadline);

}  // namespace rota::transport
