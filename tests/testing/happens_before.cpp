// Each word stores the moment of its last write and the moments of later reads. Each rank has a
// vector clock: the moments of other ranks that come before its next access.
#include "testing/happens_before.h"

#include <algorithm>
#include <cstring>

namespace rota::testing {

HappensBefore::HappensBefore(std::size_t rank_count, std::span<std::byte> memory)
    : begin_(memory.data()),
      bytes_(memory.size()),
      clocks_(rank_count, Clock(rank_count)),
      words_(memory.size() / kWord) {
  for (std::size_t rank = 0; rank < rank_count; ++rank) clocks_[rank][rank] = 1;
}

void HappensBefore::read(const void* address, std::size_t bytes) {
  const std::size_t begin = offset_of(address);
  if (begin >= bytes_) return;
  for (std::size_t i = begin / kWord; i < (begin + bytes + kWord - 1) / kWord; ++i) read_word(i);
}

void HappensBefore::write(const void* address, std::size_t bytes) {
  const std::size_t begin = offset_of(address);
  if (begin >= bytes_) return;
  for (std::size_t i = begin / kWord; i < (begin + bytes + kWord - 1) / kWord; ++i) write_word(i);
}

void HappensBefore::read_word(std::size_t index) {
  Word& word = words_[index];
  if (!is_before(word.written)) note("reads", index, "writes", word.written);
  if (word.read.rank == kSeveral) {
    auto& readers = readers_[index];
    const auto own = std::ranges::find(readers, now().rank, &Moment::rank);
    if (own == readers.end()) {
      readers.push_back(now());
    } else {
      own->time = now().time;
    }
  } else if (is_before(word.read)) {
    word.read = now();
  } else {
    readers_[index] = {word.read, now()};
    word.read.rank = kSeveral;
  }
}

void HappensBefore::write_word(std::size_t index) {
  Word& word = words_[index];
  if (!is_before(word.written)) note("writes", index, "writes", word.written);
  if (word.read.rank == kSeveral) {
    for (const Moment& reader : readers_[index]) {
      if (!is_before(reader)) note("writes", index, "reads", reader);
    }
  } else if (!is_before(word.read)) {
    note("writes", index, "reads", word.read);
  }
  word = {.written = now(), .read = {}};
}

HappensBefore::Atomic& HappensBefore::atomic_at(const void* address) {
  Atomic& atomic = atomics_[address];
  if (atomic.seen.empty()) atomic.seen.resize(clocks_.size());
  return atomic;
}

std::uint64_t HappensBefore::load(const void* address, std::size_t, bool acquires) {
  Atomic& atomic = atomic_at(address);
  std::size_t& seen = atomic.seen[rank_];
  seen = std::min(seen + 1, atomic.versions.size() - 1);
  const Version& version = atomic.versions[seen];
  if (acquires && !version.released.empty()) {
    Clock& own = clocks_[rank_];
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = std::max(own[i], version.released[i]);
  }
  return version.value;
}

void HappensBefore::store(void* address, std::size_t bytes, std::uint64_t value, bool releases) {
  Atomic& atomic = atomic_at(address);
  atomic.versions.push_back({value, releases ? clocks_[rank_] : Clock{}});
  atomic.seen[rank_] = atomic.versions.size() - 1;
  ++clocks_[rank_][rank_];
  std::memcpy(address, &value, bytes);
}

void HappensBefore::note(const char* verb, std::size_t index, const char* other_verb,
                         Moment other) {
  if (flaw_) return;
  const std::size_t bytes_each = bytes_ / clocks_.size();
  const std::size_t offset = index * kWord;
  flaw_ = "rank " + std::to_string(rank_) + " " + verb + " byte " +
          std::to_string(offset % bytes_each) + " of rank " + std::to_string(offset / bytes_each) +
          "'s memory, which rank " + std::to_string(other.rank) + " " + other_verb +
          ", and neither waits for the other";
}

}  // namespace rota::testing
