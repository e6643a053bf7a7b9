// Each peer's channel is that of one transport or the other; a rest is for both.
#include "transport/mixed_transport.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "transport/fabric.h"
#include "transport/tcp/connect.h"

namespace rota::transport {
namespace {

std::deque<Bell> bells_of(shm::Transport& inside, const std::vector<std::size_t>& mates,
                          std::vector<auth::Stream>& streams) {
  std::deque<Bell> bells;
  for (std::size_t place = 0; place < mates.size(); ++place) {
    if (place == inside.rank()) continue;
    Bell& bell = bells.emplace_back(std::move(streams[mates[place]]), inside.rings(place));
    inside.set_doorbell(place, bell);
  }
  return bells;
}

}  // namespace

MixedTransport::MixedTransport(std::unique_ptr<shm::Transport> inside,
                               std::vector<std::size_t> mates, std::vector<auth::Stream> streams)
    : inside_(std::move(inside)),
      mates_(std::move(mates)),
      bells_(bells_of(*inside_, mates_, streams)),
      outside_(std::move(streams)) {
  for (std::size_t peer = 0; peer < outside_.world_size(); ++peer) {
    channels_.push_back(&outside_.channel(peer));
  }
  for (std::size_t place = 0; place < mates_.size(); ++place) {
    channels_[mates_[place]] = &inside_->channel(place);
  }
}

std::unique_ptr<Fabric> MixedTransport::found(const Site& site) { return inside_->found(site); }

bool MixedTransport::ends_by_itself(std::size_t peer) const noexcept {
  return !std::ranges::binary_search(mates_, peer);
}

bool MixedTransport::has_left(std::size_t peer) const noexcept {
  const auto found = std::ranges::lower_bound(mates_, peer);
  if (found == mates_.end() || *found != peer) return false;
  return inside_->has_left(static_cast<std::size_t>(found - mates_.begin()));
}

// Rings that were heard while nobody slept may end one rest too early, and never one too late.
void MixedTransport::rest(base::Duration at_most) {
  shm::Rings& rings = inside_->rings(inside_->rank());
  rings.asleep.store(1);
  if (rings.count.load() == heard_) sleep(at_most);
  rings.asleep.store(0);
  heard_ = rings.count.load();
}

void MixedTransport::sleep(base::Duration at_most) {
  polls_.clear();
  outside_.add_to(polls_);
  for (Bell& bell : bells_) bell.add_to(polls_);
  polls_.wait(base::Clock::now() + at_most);
  outside_.heed(polls_);
  for (Bell& bell : bells_) bell.heed(polls_);
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
    for (Bell& bell : bells_) bell.ring();
  } catch (const std::exception&) {
    // They look now and then in any case.
  }
}

std::unique_ptr<Transport> join_mixed(const Site& site, Lent lent, const CallTerms& terms,
                                      base::TimePoint deadline) {
  const std::size_t rank = site.own.front();
  auto streams = tcp::connect_all(rank, terms, lent.listener.get(), deadline);
  std::vector<std::size_t> mates = base::island_of(site.islands, rank);
  if (mates.size() == 1) {
    return std::make_unique<tcp::Transport>(std::move(streams), MixedTransport::kName);
  }
  return std::make_unique<MixedTransport>(shm::meet(site, std::move(lent.arenas)), std::move(mates),
                                          std::move(streams));
}

}  // namespace rota::transport
