// Two stores, in this order: who ends the group; then, behind its words, that they are there.
#include "transport/shm/abort_word.h"

#include <algorithm>
#include <cstring>

namespace rota::transport::shm {

bool AbortWord::begin(std::size_t rank) noexcept {
  std::uint32_t fine = 0;
  const bool is_first = word_.compare_exchange_strong(fine, static_cast<std::uint32_t>(rank) + 1);
  // Before the caller writes to what it has lent, also where another one was first.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return is_first;
}

void AbortWord::tell(const Cause& cause) noexcept {
  code_ = static_cast<std::uint32_t>(cause.code);
  blamed_ = cause.blamed ? static_cast<std::uint32_t>(*cause.blamed) : kNobody;
  const std::size_t count = std::min(cause.text.size(), text_.size() - 1);
  std::memcpy(text_.data(), cause.text.data(), count);
  text_[count] = '\0';
  const std::uint32_t writer = word_.load(std::memory_order_relaxed);
  word_.store(writer | kTold, std::memory_order_release);
}

bool AbortWord::is_set() const noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  return word_.load(std::memory_order_acquire) != 0;
}

std::optional<std::size_t> AbortWord::writer() const noexcept {
  const std::uint32_t word = word_.load(std::memory_order_acquire);
  if (word == 0) return std::nullopt;
  return (word & ~kTold) - 1;
}

std::optional<Cause> AbortWord::cause() const {
  const std::uint32_t word = word_.load(std::memory_order_acquire);
  if ((word & kTold) == 0) return std::nullopt;
  Cause cause;
  cause.rank = (word & ~kTold) - 1;
  cause.code = static_cast<ErrorCode>(code_);
  if (blamed_ != kNobody) cause.blamed = blamed_;
  cause.text.assign(text_.data(), ::strnlen(text_.data(), text_.size()));
  return cause;
}

}  // namespace rota::transport::shm
