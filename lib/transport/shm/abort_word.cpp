// Announces an abort with two stores, in this order: first the rank that ends the group; then,
// after the fields of the cause, the bit that marks the fields as valid.
#include "transport/shm/abort_word.h"

#include <cstring>
#include <string_view>

#include "base/utf8.h"

namespace rota::transport::shm {

bool AbortWord::begin(std::size_t rank) noexcept {
  std::uint32_t fine = 0;
  // Relaxed, because the fence orders the word for both kinds of aborters.
  const bool is_first = word_.compare_exchange_strong(fine, static_cast<std::uint32_t>(rank) + 1,
                                                      std::memory_order_relaxed);
  // The rank needs this fence before it writes to memory that its peers borrowed, even if another
  // rank was first. A peer that reads such a write, and then makes the fence of is_set(), sees the
  // word.
  std::atomic_thread_fence(std::memory_order_release);
  return is_first;
}

void AbortWord::tell(const Cause& cause) noexcept {
  code_ = static_cast<std::uint32_t>(cause.code);
  blamed_ = cause.blamed ? static_cast<std::uint32_t>(*cause.blamed) : kNobody;
  const std::string_view text = base::cut(cause.text, text_.size() - 1);
  std::memcpy(text_.data(), text.data(), text.size());
  text_[text.size()] = '\0';
  // Relaxed, because this rank has written the word, and no other rank changes it any more.
  const std::uint32_t writer = word_.load(std::memory_order_relaxed);
  word_.store(writer | kTold, std::memory_order_release);  // Publishes the fields.
}

bool AbortWord::is_set() const noexcept {
  // The fence is between what the rank has read before and the load of the word. The load itself
  // is relaxed: nobody reads more because of its value.
  std::atomic_thread_fence(std::memory_order_acquire);
  return word_.load(std::memory_order_relaxed) != 0;
}

std::optional<std::size_t> AbortWord::writer() const noexcept {
  const std::uint32_t word = word_.load(std::memory_order_relaxed);  // Reads only the word.
  if (word == 0) return std::nullopt;
  return (word & ~kTold) - 1;
}

std::optional<Cause> AbortWord::cause() const {
  const std::uint32_t word = word_.load(std::memory_order_acquire);  // Of the fields.
  if ((word & kTold) == 0) return std::nullopt;
  Cause cause;
  cause.rank = (word & ~kTold) - 1;
  cause.code = static_cast<ErrorCode>(code_);
  if (blamed_ != kNobody) cause.blamed = blamed_;
  cause.text.assign(text_.data(), ::strnlen(text_.data(), text_.size()));
  return cause;
}

}  // namespace rota::transport::shm
