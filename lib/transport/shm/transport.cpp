// Has one channel per peer, and the abort word.
#include "transport/shm/transport.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "transport/domain_fabric.h"

namespace rota::transport::shm {
namespace {

// A sleeping rank checks again after this time. It is short compared with a training step, and long
// compared with a check, which costs a microsecond.
constexpr std::chrono::microseconds kLongestSleep{100};

std::vector<ControlPage*> controls_of(const Domain& domain, const GroupLayout& layout) {
  std::vector<ControlPage*> controls;
  for (std::size_t rank = 0; rank < layout.arenas.size(); ++rank) {
    controls.push_back(&domain.control(layout.arenas[rank], layout.controls[rank]));
  }
  return controls;
}

std::vector<SharedMemory::OfRank> shared_by(const Domain& domain, const GroupLayout& layout,
                                            const std::vector<ControlPage*>& controls) {
  std::vector<SharedMemory::OfRank> ranks;
  for (std::size_t rank = 0; rank < controls.size(); ++rank) {
    ranks.push_back({&controls[rank]->shared, domain.bytes(layout.arenas[rank])});
  }
  return ranks;
}

}  // namespace

Transport::Transport(const std::shared_ptr<Domain>& domain, std::size_t rank,
                     std::vector<std::size_t> names)
    : Transport(domain, open_arena(domain, rank), rank, layout_of_all(std::move(names))) {}

Transport::Transport(std::shared_ptr<Domain> domain, std::shared_ptr<memory::Arena> arena,
                     std::size_t rank, const GroupLayout& layout)
    : domain_(std::move(domain)),
      arena_(std::move(arena)),
      arena_index_(layout.arenas[rank]),
      controls_(controls_of(*domain_, layout)),
      shared_{.rank = rank,
              .ranks = shared_by(*domain_, layout, controls_),
              .abort_word = &controls_[0]->abort_word.word(),
              .allocate = [this](std::size_t bytes) { return arena_->allocate(bytes); }} {
  const auto mailbox = [&](std::size_t from, std::size_t to) -> Mailbox& {
    return domain_->mailbox(layout.arenas[from], layout.mailboxes[from], to);
  };
  for (std::size_t peer = 0; peer < layout.arenas.size(); ++peer) {
    channels_.emplace_back(MailboxChannel::Ends{.out = mailbox(rank, peer),
                                                .in = mailbox(peer, rank),
                                                .own_bytes = domain_->bytes(layout.arenas[rank]),
                                                .peer_bytes = domain_->bytes(layout.arenas[peer]),
                                                .peer = layout.names[peer],
                                                .abort_word = controls_[0]->abort_word},
                           *arena_);
  }
}

std::unique_ptr<Fabric> Transport::group_fabric(const GroupShape& shape) {
  return domain_fabric(shape, this);
}

void Transport::sleep(base::Duration at_most) {
  std::this_thread::sleep_for(std::min<base::Duration>(at_most, kLongestSleep));
}

std::uint64_t Transport::sent_bytes() const noexcept {
  std::uint64_t total = shared_.sent_bytes.load(std::memory_order_relaxed);
  for (const MailboxChannel& channel : channels_) total += channel.sent_bytes();
  return total;
}

std::uint64_t Transport::staged_bytes() const noexcept {
  std::uint64_t total = shared_.staged_bytes.load(std::memory_order_relaxed);
  for (const MailboxChannel& channel : channels_) total += channel.staged_bytes();
  return total;
}

// Releases all that the rank has written. A peer that acquires the flag reads it afterwards.
Transport::~Transport() { controls_[rank()]->left.store(1, std::memory_order_release); }

bool Transport::has_left(std::size_t peer) const noexcept {
  return controls_[peer]->left.load(std::memory_order_acquire) != 0;
}

void Transport::begin_abort(std::size_t rank) noexcept {
  // When this rank gives memory back, perhaps its peers do not know of the abort yet.
  arena_->quarantine();
  if (controls_[0]->abort_word.begin(rank)) is_first_to_abort_ = true;
}

void Transport::abort(const Cause& cause) noexcept {
  if (!is_first_to_abort_) begin_abort(cause.rank);
  if (is_first_to_abort_) controls_[0]->abort_word.tell(cause);
}

std::unique_ptr<Transport> meet(const GroupShape& shape, std::vector<os::Fd> arenas) {
  const std::size_t rank = shape.own.front();
  const std::vector<std::size_t> local_peers = base::domain_of(shape.domains, rank);
  return std::make_unique<Transport>(std::make_shared<Domain>(std::move(arenas)),
                                     base::index_in(local_peers, rank), local_peers);
}

std::unique_ptr<transport::Transport> join(const GroupShape& shape, Descriptors descriptors,
                                           const CallTerms&, base::TimePoint) {
  return meet(shape, std::move(descriptors.arenas));
}

}  // namespace rota::transport::shm
