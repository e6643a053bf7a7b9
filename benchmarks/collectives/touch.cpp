// Two loops that write or read memory. The compiler can vectorise them, but cannot remove them.
#include "collectives/touch.h"

#include <cstdint>
#include <cstring>

namespace rota::bench {
namespace {

using Word = std::uint64_t;
using Words __attribute__((vector_size(16))) = Word;

constexpr std::size_t kLineBytes = 4 * sizeof(Words);

volatile Word written_word = 0;  // If it were a constant, the loop would become memset().
volatile Word read_sum = 0;

Words words_at(const std::byte* at) noexcept {
  Words words;
  std::memcpy(&words, at, sizeof words);
  return words;
}

}  // namespace

void rewrite(std::span<std::byte> bytes) noexcept {
  const Word word = written_word;
  std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= sizeof(Word); left -= sizeof(Word), at += sizeof(Word)) {
    std::memcpy(at, &word, sizeof(Word));
  }
  if (left > 0) std::memcpy(at, &word, left);  // memcpy takes no null pointer, not even for 0.
}

// Reads a cache line at a time into four sums. With a single sum, each addition waits for the one
// before. These waits took about two fifths of a call's time, depending on where the linker had put
// the loop.
void read_all(std::span<const std::byte> bytes) noexcept {
  Words a{}, b{}, c{}, d{};
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kLineBytes; left -= kLineBytes, at += kLineBytes) {
    a += words_at(at);
    b += words_at(at + sizeof(Words));
    c += words_at(at + 2 * sizeof(Words));
    d += words_at(at + 3 * sizeof(Words));
  }
  const Words sums = a + b + c + d;
  Word sum = sums[0] + sums[1];
  for (; left > 0; --left, ++at) sum += static_cast<Word>(*at);
  read_sum = sum;
}

}  // namespace rota::bench
