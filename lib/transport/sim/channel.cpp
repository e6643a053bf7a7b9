// Sends pieces of messages with a delay, and reads the pieces that have arrived.
#include "transport/sim/channel.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "base/sizes.h"

namespace rota::transport::sim {
namespace {

// While the peer is lost and its data is unread, sends wait for this many ticks. No delay of a test
// is that long.
constexpr std::uint64_t kLastReadTicks = 100;

}  // namespace

void SimChannel::throw_lost() const {
  throw Error(ErrorCode::kPeerLost, "the connection to rank " + std::to_string(peer_) + " is lost",
              peer_);
}

bool SimChannel::has_ended() {
  if (!network_.lost_[peer_]) return false;
  if (!lost_at_) lost_at_ = network_.now_;
  const bool has_unread = !incoming_.pieces.empty() || incoming_.arrived.size() > used_;
  return !has_unread || network_.now_ - *lost_at_ >= kLastReadTicks;
}

void SimChannel::put(std::span<const std::byte> bytes) {
  if (network_.silent_[rank_]) return;
  outgoing_.pieces.push_back({network_.draw_due(outgoing_), {bytes.begin(), bytes.end()}});
}

void SimChannel::start_send(const Header& header, std::span<const std::byte> payload) {
  ROTA_ASSERT(to_send_.empty() && header.bytes >= payload.size());
  if (has_ended()) throw_lost();
  put(std::as_bytes(std::span(&header, 1)));
  to_send_ = payload;
}

void SimChannel::send_more(std::span<const std::byte> payload) {
  ROTA_ASSERT(to_send_.empty());
  to_send_ = payload;
}

Progress SimChannel::progress_send() {
  if (to_send_.empty()) return Progress::kDone;
  if (has_ended()) throw_lost();
  if (network_.lost_[peer_]) return Progress::kNone;  // The data is read first.
  const std::size_t bytes = network_.part_of(to_send_.size());
  put(to_send_.first(bytes));
  to_send_ = to_send_.subspan(bytes);
  return to_send_.empty() ? Progress::kDone : Progress::kSome;
}

std::span<const std::byte> SimChannel::arrived(std::size_t needed) {
  auto& pieces = incoming_.pieces;
  auto& bytes = incoming_.arrived;
  if (used_ > 0) {
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
  }
  while (!pieces.empty() && pieces.front().due <= network_.now_) {
    const auto& piece = pieces.front().bytes;
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    pieces.pop_front();
  }
  if (bytes.size() < needed && pieces.empty() && network_.lost_[peer_]) throw_lost();
  return bytes;
}

const Header* SimChannel::incoming() {
  if (!header_) {
    const auto bytes = arrived(sizeof(Header));
    if (bytes.size() < sizeof(Header)) return nullptr;
    header_.emplace();
    std::memcpy(&*header_, bytes.data(), sizeof(Header));
    used_ += sizeof(Header);
  }
  return &*header_;
}

std::span<const std::byte> SimChannel::peek() {
  const std::size_t rest =
      base::at_most(std::numeric_limits<std::size_t>::max(), header_->bytes - offset_);
  if (rest == 0) return {};
  const auto bytes = arrived(rest);
  return bytes.first(network_.part_of(std::min(rest, bytes.size())));
}

void SimChannel::release(std::size_t bytes) {
  offset_ += bytes;
  used_ += bytes;
}

std::size_t SimChannel::receive(std::span<std::byte> into) {
  const auto view = peek();
  const std::size_t bytes = std::min(view.size(), into.size());
  if (bytes > 0) std::memcpy(into.data(), view.data(), bytes);
  release(bytes);
  return bytes;
}

void SimChannel::finish_receive() {
  ROTA_ASSERT(header_ && offset_ == header_->bytes);
  header_.reset();
  offset_ = 0;
}

}  // namespace rota::transport::sim
