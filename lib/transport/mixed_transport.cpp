// Each peer's channel belongs to one of two transports. A sleep waits for both.
#include "transport/mixed_transport.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "transport/fabric.h"
#include "transport/tcp/connect.h"

namespace rota::transport {
namespace {

std::deque<SocketDoorbell> doorbells_of(shm::Transport& inside,
                                        const std::vector<std::size_t>& local_peers,
                                        std::vector<auth::Stream>& streams) {
  std::deque<SocketDoorbell> doorbells;
  for (std::size_t place = 0; place < local_peers.size(); ++place) {
    if (place == inside.rank()) continue;
    SocketDoorbell& doorbell =
        doorbells.emplace_back(std::move(streams[local_peers[place]]), inside.doorbell_flag(place));
    inside.set_doorbell(place, doorbell);
  }
  return doorbells;
}

}  // namespace

MixedTransport::MixedTransport(std::unique_ptr<shm::Transport> inside,
                               std::vector<std::size_t> local_peers,
                               std::vector<auth::Stream> streams)
    : inside_(std::move(inside)),
      local_peers_(std::move(local_peers)),
      doorbells_(doorbells_of(*inside_, local_peers_, streams)),
      outside_(std::move(streams)) {
  for (std::size_t peer = 0; peer < outside_.world_size(); ++peer) {
    channels_.push_back(&outside_.channel(peer));
  }
  for (std::size_t place = 0; place < local_peers_.size(); ++place) {
    channels_[local_peers_[place]] = &inside_->channel(place);
  }
}

std::unique_ptr<Fabric> MixedTransport::group_fabric(const GroupShape& shape) {
  return inside_->group_fabric(shape);
}

bool MixedTransport::ends_by_itself(std::size_t peer) const noexcept {
  return !std::ranges::binary_search(local_peers_, peer);
}

bool MixedTransport::has_left(std::size_t peer) const noexcept {
  const auto found = std::ranges::lower_bound(local_peers_, peer);
  if (found == local_peers_.end() || *found != peer) return false;
  return inside_->has_left(static_cast<std::size_t>(found - local_peers_.begin()));
}

// If a doorbell rang while this rank was awake, the next sleep may end early. No ring is missed:
// this rank first says that it sleeps and then reads the count, as SocketDoorbell::ring() first
// counts and then looks for sleepers.
void MixedTransport::sleep(base::Duration at_most) {
  shm::DoorbellFlag& flag = inside_->doorbell_flag(inside_->rank());
  flag.asleep.store(1, std::memory_order_seq_cst);
  if (flag.count.load(std::memory_order_seq_cst) == heard_) wait_for_descriptors(at_most);
  // Relaxed: a rank that sees it late sends a byte that nobody needs.
  flag.asleep.store(0, std::memory_order_relaxed);
  // Acquires what was written before the rings that it counts, so the next looks find it.
  heard_ = flag.count.load(std::memory_order_acquire);
}

void MixedTransport::wait_for_descriptors(base::Duration at_most) {
  polls_.clear();
  outside_.add_to(polls_);
  for (SocketDoorbell& doorbell : doorbells_) doorbell.add_to(polls_);
  polls_.wait(base::Clock::now() + at_most);
  outside_.handle(polls_);
  for (SocketDoorbell& doorbell : doorbells_) doorbell.handle(polls_);
}

std::uint64_t MixedTransport::sent_bytes() const noexcept {
  return inside_->sent_bytes() + outside_.sent_bytes();
}

std::uint64_t MixedTransport::staged_bytes() const noexcept {
  return inside_->staged_bytes() + outside_.staged_bytes();
}

void MixedTransport::abort(const Cause& cause) noexcept {
  inside_->abort(cause);
  outside_.abort(cause);
  try {
    for (SocketDoorbell& doorbell : doorbells_) doorbell.ring();
  } catch (const std::exception&) {
    // Peers that were not woken check at intervals in any case.
  }
}

std::unique_ptr<Transport> join_mixed(const GroupShape& shape, Descriptors descriptors,
                                      const CallTerms& terms, base::TimePoint deadline) {
  const std::size_t rank = shape.own.front();
  auto streams = tcp::connect_all(rank, terms, descriptors.listener.get(), deadline);
  std::vector<std::size_t> local_peers = base::domain_of(shape.domains, rank);
  if (local_peers.size() == 1) {
    return std::make_unique<tcp::Transport>(std::move(streams), MixedTransport::kName);
  }
  return std::make_unique<MixedTransport>(shm::meet(shape, std::move(descriptors.arenas)),
                                          std::move(local_peers), std::move(streams));
}

}  // namespace rota::transport
