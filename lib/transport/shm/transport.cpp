// A channel a peer, and the abort word.
#include "transport/shm/transport.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "transport/island_fabric.h"

namespace rota::transport::shm {
namespace {

// A sleeping rank looks again after this long: short beside a training step, long beside the
// microsecond that a look costs.
constexpr std::chrono::microseconds kNap{100};

std::vector<ControlPage*> controls_of(const Domain& domain, const Meeting& meeting) {
  std::vector<ControlPage*> controls;
  for (std::size_t rank = 0; rank < meeting.arenas.size(); ++rank) {
    controls.push_back(&domain.control(meeting.arenas[rank], meeting.controls[rank]));
  }
  return controls;
}

std::vector<SharedMemory::OfRank> shared_by(const Domain& domain, const Meeting& meeting,
                                            const std::vector<ControlPage*>& controls) {
  std::vector<SharedMemory::OfRank> ranks;
  for (std::size_t rank = 0; rank < controls.size(); ++rank) {
    ranks.push_back({&controls[rank]->shared, domain.bytes(meeting.arenas[rank])});
  }
  return ranks;
}

}  // namespace

Transport::Transport(const std::shared_ptr<Domain>& domain, std::size_t rank,
                     std::vector<std::size_t> names)
    : Transport(domain, open_arena(domain, rank), rank, meeting_of_all(std::move(names))) {}

Transport::Transport(std::shared_ptr<Domain> domain, std::shared_ptr<memory::Arena> arena,
                     std::size_t rank, const Meeting& meeting)
    : domain_(std::move(domain)),
      arena_(std::move(arena)),
      arena_index_(meeting.arenas[rank]),
      controls_(controls_of(*domain_, meeting)),
      shared_{.rank = rank,
              .ranks = shared_by(*domain_, meeting, controls_),
              .abort_word = &controls_[0]->abort_word.word(),
              .allocate = [this](std::size_t bytes) { return arena_->allocate(bytes); }} {
  const auto mailbox = [&](std::size_t from, std::size_t to) -> Mailbox& {
    return domain_->mailbox(meeting.arenas[from], meeting.mailboxes[from], to);
  };
  for (std::size_t peer = 0; peer < meeting.arenas.size(); ++peer) {
    channels_.emplace_back(Channel::Ends{.out = mailbox(rank, peer),
                                         .in = mailbox(peer, rank),
                                         .own_bytes = domain_->bytes(meeting.arenas[rank]),
                                         .peer_bytes = domain_->bytes(meeting.arenas[peer]),
                                         .peer = meeting.names[peer],
                                         .abort_word = controls_[0]->abort_word},
                           *arena_);
  }
}

std::unique_ptr<Fabric> Transport::found(const Site& site) { return island_fabric(site, this); }

void Transport::rest(base::Duration at_most) {
  std::this_thread::sleep_for(std::min<base::Duration>(at_most, kNap));
}

std::uint64_t Transport::sent_bytes() const noexcept {
  std::uint64_t total = shared_.sent_bytes.load(std::memory_order_relaxed);
  for (const Channel& channel : channels_) total += channel.sent_bytes();
  return total;
}

std::uint64_t Transport::staged_bytes() const noexcept {
  std::uint64_t total = shared_.staged_bytes.load(std::memory_order_relaxed);
  for (const Channel& channel : channels_) total += channel.staged_bytes();
  return total;
}

Transport::~Transport() { controls_[rank()]->left.store(1, std::memory_order_release); }

bool Transport::has_left(std::size_t peer) const noexcept {
  return controls_[peer]->left.load(std::memory_order_acquire) != 0;
}

void Transport::begin_abort(std::size_t rank) noexcept {
  // Peers may not have heard of it when memory is given back.
  arena_->quarantine();
  if (controls_[0]->abort_word.begin(rank)) is_first_to_abort_ = true;
}

void Transport::abort(const Cause& cause) noexcept {
  if (!is_first_to_abort_) begin_abort(cause.rank);
  if (is_first_to_abort_) controls_[0]->abort_word.tell(cause);
}

std::unique_ptr<Transport> meet(const Site& site, std::vector<os::Fd> arenas) {
  const std::size_t rank = site.own.front();
  const std::vector<std::size_t> mates = base::island_of(site.islands, rank);
  return std::make_unique<Transport>(std::make_shared<Domain>(std::move(arenas)),
                                     base::place_among(mates, rank), mates);
}

std::unique_ptr<transport::Transport> join(const Site& site, Lent lent, const CallTerms&,
                                           base::TimePoint) {
  return meet(site, std::move(lent.arenas));
}

}  // namespace rota::transport::shm
