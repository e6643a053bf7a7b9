// Copies shares into one buffer, which is kept for the next checkpoint, in the order in which a
// step will write them.
#include "checkpoint/snapshot.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/time.h"

namespace rota::checkpoint {
namespace {

constexpr std::size_t kAlignment = 64;  // Of a cache line, for memcpy.
constexpr std::uint64_t kAllCopied = std::numeric_limits<std::uint64_t>::max();

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A step sends buckets in ascending order, and updates parameters in descending order. So the turns
// of the largest bucket and of parameter 0 are the last ones.
std::uint64_t turn_of(StateWriter writer, std::size_t index) {
  const std::uint64_t number = std::min<std::uint64_t>(index, kAllCopied - 1);
  return writer == StateWriter::kSend ? number : kAllCopied - 1 - number;
}

bool is_copied(const Share& share) { return share.writer != StateWriter::kStep; }

std::size_t at(StateWriter writer) { return static_cast<std::size_t>(writer); }

}  // namespace

Snapshot::Snapshot() noexcept {
  for (auto& copied : copied_) copied.store(kAllCopied, std::memory_order_relaxed);
}

void Snapshot::place(const std::vector<Share>& shares) {
  shares_ = shares;
  std::size_t bytes = 0;
  for (const Share& share : shares_) {
    if (is_copied(share)) bytes += padded(share.memory.size());
  }
  if (room_ < bytes) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);  // Pages come when written to.
    room_ = bytes;
  }
  copies_.clear();
  values_.clear();
  std::size_t begin = 0;
  for (const Share& share : shares_) {
    copies_.emplace_back();
    values_.push_back(share.memory);
    if (!is_copied(share)) continue;
    copies_.back() = {memory_.get() + begin, share.memory.size()};
    values_.back() = copies_.back();
    begin += padded(share.memory.size());
  }
}

void Snapshot::begin(const std::vector<Share>& shares) {
  place(shares);
  order_.clear();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (is_copied(shares_[i])) order_.push_back(i);
  }
  // A step sends its first bucket before its first update.
  std::ranges::stable_sort(order_, {}, [this](std::size_t i) {
    const Share& share = shares_[i];
    return std::pair(share.writer != StateWriter::kSend, turn_of(share.writer, share.index));
  });
  // A step may change what is not copied before the writer's thread has even begun.
  for (const StateWriter writer : {StateWriter::kUpdate, StateWriter::kSend}) {
    copied_[at(writer)].store(first_turn(writer), std::memory_order_relaxed);
  }
}

// All shares of earlier turns are copied: there are none.
std::uint64_t Snapshot::first_turn(StateWriter writer) const noexcept {
  for (const std::size_t i : order_) {
    if (shares_[i].writer == writer) return turn_of(writer, shares_[i].index);
  }
  return kAllCopied;
}

void Snapshot::borrow(const std::vector<Share>& shares) {
  order_.clear();  // Nothing to copy.
  values_.clear();
  for (const Share& share : shares) values_.push_back(share.memory);
}

void Snapshot::copy() noexcept {
  const auto announce = [this](StateWriter writer, std::uint64_t turn) {
    copied_[at(writer)].store(turn, std::memory_order_release);
    copied_[at(writer)].notify_one();
  };
  for (const std::size_t i : order_) {
    // The shares that sending changes come first.
    if (shares_[i].writer != StateWriter::kSend) announce(StateWriter::kSend, kAllCopied);
    // All shares of earlier turns are copied now. Some shares of this turn may not be copied yet.
    announce(shares_[i].writer, turn_of(shares_[i].writer, shares_[i].index));
    std::ranges::copy(shares_[i].memory, copies_[i].begin());
  }
  announce(StateWriter::kSend, kAllCopied);
  announce(StateWriter::kUpdate, kAllCopied);
}

std::chrono::nanoseconds Snapshot::wait_before(StateWriter writer, std::size_t index) noexcept {
  std::atomic<std::uint64_t>& copied = copied_[at(writer)];
  const std::uint64_t turn = turn_of(writer, index);
  std::uint64_t seen = copied.load(std::memory_order_acquire);
  if (seen > turn) return {};
  const base::TimePoint start = base::Clock::now();
  for (; seen <= turn; seen = copied.load(std::memory_order_acquire)) {
    copied.wait(seen, std::memory_order_acquire);
  }
  return base::Clock::now() - start;
}

}  // namespace rota::checkpoint
