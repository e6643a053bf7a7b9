// Two loops over memory that a compiler can make vectors of, but cannot leave out.
#include "collectives/touch.h"

#include <cstdint>
#include <cstring>

namespace rota::bench {
namespace {

using Word = std::uint64_t;

volatile Word written_word = 0;  // Not known when this is compiled, or memset() would come of it.
volatile Word read_sum = 0;

}  // namespace

void rewrite(std::span<std::byte> bytes) noexcept {
  const Word word = written_word;
  std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= sizeof(Word); left -= sizeof(Word), at += sizeof(Word)) {
    std::memcpy(at, &word, sizeof(Word));
  }
  if (left > 0) std::memcpy(at, &word, left);  // It takes no null pointer, not even for 0.
}

void read_all(std::span<const std::byte> bytes) noexcept {
  Word sum = 0;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= sizeof(Word); left -= sizeof(Word), at += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, at, sizeof(Word));
    sum += word;
  }
  Word rest = 0;
  if (left > 0) std::memcpy(&rest, at, left);
  read_sum = sum + rest;
}

}  // namespace rota::bench
