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

}  // namespace

Transport::Transport(std::shared_ptr<Domain> domain, std::size_t rank)
    : domain_(std::move(domain)), arena_(open_arena(domain_, rank)) {
  channels_.reserve(domain_->world_size());
  for (std::size_t peer = 0; peer < domain_->world_size(); ++peer) {
    channels_.emplace_back(*domain_, *arena_, rank, peer);
  }
}

void Transport::rest(base::Duration at_most) {
  std::this_thread::sleep_for(std::min<base::Duration>(at_most, kNap));
}

std::uint64_t Transport::staged_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const Channel& channel : channels_) total += channel.staged_bytes();
  return total;
}

void Transport::abort(const Cause& cause) noexcept {
  ControlPage& page = domain_->control();
  std::uint32_t fine = ControlPage::kFine;
  if (!page.state.compare_exchange_strong(fine, ControlPage::kWriting)) return;  // Not the first.
  page.rank = static_cast<std::uint32_t>(cause.rank);
  page.code = static_cast<std::uint32_t>(cause.code);
  page.blamed = cause.blamed ? static_cast<std::uint32_t>(*cause.blamed) : ControlPage::kNobody;
  const std::size_t count = std::min(cause.text.size(), sizeof page.text - 1);
  std::memcpy(page.text, cause.text.data(), count);
  page.text[count] = '\0';
  page.state.store(ControlPage::kBroken, std::memory_order_release);
}

std::optional<Cause> Transport::aborted() {
  const ControlPage& page = domain_->control();
  if (page.state.load(std::memory_order_acquire) != ControlPage::kBroken) return std::nullopt;
  Cause cause;
  cause.rank = page.rank;
  cause.code = static_cast<ErrorCode>(page.code);
  if (page.blamed != ControlPage::kNobody) cause.blamed = page.blamed;
  cause.text.assign(page.text, ::strnlen(page.text, sizeof page.text));
  return cause;
}

}  // namespace rota::transport::shm
