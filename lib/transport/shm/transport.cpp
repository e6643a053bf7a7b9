// A channel a peer, and the abort word.
#include "transport/shm/transport.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

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

std::vector<Board::Seat> seats_of(const Domain& domain, const Meeting& meeting,
                                  const std::vector<ControlPage*>& controls) {
  std::vector<Board::Seat> seats;
  for (std::size_t rank = 0; rank < controls.size(); ++rank) {
    seats.push_back({&controls[rank]->notice, domain.bytes(meeting.arenas[rank])});
  }
  return seats;
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
      board_(rank, seats_of(*domain_, meeting, controls_), controls_[0]->state,
             [this](std::size_t bytes) { return arena_->allocate(bytes); }) {
  const auto mailbox = [&](std::size_t from, std::size_t to) -> Mailbox& {
    return domain_->mailbox(meeting.arenas[from], meeting.mailboxes[from], to);
  };
  for (std::size_t peer = 0; peer < meeting.arenas.size(); ++peer) {
    channels_.emplace_back(Channel::Ends{.out = mailbox(rank, peer),
                                         .in = mailbox(peer, rank),
                                         .own_bytes = domain_->bytes(meeting.arenas[rank]),
                                         .peer_bytes = domain_->bytes(meeting.arenas[peer]),
                                         .peer = meeting.names[peer]},
                           *arena_);
  }
}

void Transport::rest(base::Duration at_most) {
  std::this_thread::sleep_for(std::min<base::Duration>(at_most, kNap));
}

std::uint64_t Transport::sent_bytes() const noexcept {
  std::uint64_t total = board_.sent_bytes();
  for (const Channel& channel : channels_) total += channel.sent_bytes();
  return total;
}

std::uint64_t Transport::staged_bytes() const noexcept {
  std::uint64_t total = board_.staged_bytes();
  for (const Channel& channel : channels_) total += channel.staged_bytes();
  return total;
}

void Transport::abort(const Cause& cause) noexcept {
  // Peers may not have heard of it when memory is given back.
  arena_->quarantine();
  ControlPage& page = *controls_[0];
  std::uint32_t fine = ControlPage::kFine;
  if (!page.state.compare_exchange_strong(fine, ControlPage::kWriting)) return;  // Not the first.
  page.rank = static_cast<std::uint32_t>(cause.rank);
  page.code = static_cast<std::uint32_t>(cause.code);
  page.blamed = cause.blamed ? static_cast<std::uint32_t>(*cause.blamed) : ControlPage::kNobody;
  const std::size_t count = std::min(cause.text.size(), sizeof page.text - 1);
  std::memcpy(page.text, cause.text.data(), count);
  page.text[count] = '\0';
  page.state.store(ControlPage::kBroken, std::memory_order_release);
  // Before the caller writes to what it has lent.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool Transport::broken() const noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  return controls_[0]->state.load(std::memory_order_acquire) != ControlPage::kFine;
}

std::optional<Cause> Transport::aborted() {
  const ControlPage& page = *controls_[0];
  if (page.state.load(std::memory_order_acquire) != ControlPage::kBroken) return std::nullopt;
  Cause cause;
  cause.rank = page.rank;
  cause.code = static_cast<ErrorCode>(page.code);
  if (page.blamed != ControlPage::kNobody) cause.blamed = page.blamed;
  cause.text.assign(page.text, ::strnlen(page.text, sizeof page.text));
  return cause;
}

}  // namespace rota::transport::shm
