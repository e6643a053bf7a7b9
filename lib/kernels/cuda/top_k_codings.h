// Has the codec top-k on a GPU. A block of threads encodes or decodes a block of elements.
//
// To encode, it finds the threshold: the magnitude of the last element that is kept. Magnitudes are
// compared as integers of four digits of 8 bits. For one digit after the other, from the highest
// on, the threads count how often each value occurs among the elements that have the digits found
// so far.
#pragma once
#include "kernels/codings.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/granules.h"
#include "kernels/cuda/launch.h"

namespace rota::kernels::cuda {

inline constexpr unsigned kTopKThreads = 256;
inline constexpr unsigned kTopKOwn = kTopKBlock / kTopKThreads;  // Elements of a thread.
inline constexpr std::size_t kPlaceBytes = sizeof(std::uint16_t);
inline constexpr std::size_t kTopKBlockBytes =
    kTopKBlock / kTopKShare * (kPlaceBytes + sizeof(float));

// The number of elements of a block, and where its coded form begins.
struct TopKBlock {
  std::size_t first;
  std::size_t count;
  std::size_t kept;

  ROTA_TARGET static TopKBlock at(unsigned block, std::size_t all) noexcept {
    const std::size_t first = block * kTopKBlock;
    const std::size_t left = all - first;
    const std::size_t count = left < kTopKBlock ? left : kTopKBlock;
    return {first, count, top_k_of(count)};
  }
};

struct TopKEncode {
  static constexpr unsigned kThreads = kTopKThreads;
  static constexpr unsigned kDigits = 4;
  static constexpr unsigned kValues = 256;  // Of a digit.
  static constexpr unsigned kGroup = 16;    // Sums are made of so many numbers, then of the sums.
  static constexpr unsigned kGroups = kValues / kGroup;
  static constexpr unsigned kPhases = 1 + 3 * kDigits + 3;
  static constexpr std::uint32_t kMagnitude = 0x7fff'ffff;

  // How many elements are above the threshold, and how many are equal to it.
  struct Numbers {
    std::uint16_t above;
    std::uint16_t equal;
  };
  struct Shared {
    unsigned bins[kDigits][kValues];
    unsigned sums[kGroups];
    std::uint32_t threshold;  // The digits that are known; the others are zero.
    unsigned wanted;          // Elements with these digits that are to be kept.
    Numbers own[kThreads];
    Numbers of_groups[kGroups];
  };
  struct Local {
    std::uint32_t bits[kTopKOwn];
  };

  std::byte* coded;
  const std::byte* values;
  std::size_t count;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local& local) const noexcept {
    const TopKBlock block = TopKBlock::at(place.block, count);
    if constexpr (kPhase == 0) {
      begin(place.thread, block, shared, local);
    } else if constexpr (kPhase <= 3 * kDigits) {
      constexpr unsigned kDigit = (kPhase - 1) / 3;
      constexpr unsigned kShift = 8 * (kDigits - 1 - kDigit);
      if constexpr ((kPhase - 1) % 3 == 0) {
        count_digits<kShift>(place.thread, block, shared.bins[kDigit], shared, local);
      } else if constexpr ((kPhase - 1) % 3 == 1) {
        if (place.thread < kGroups) add_up(place.thread, shared.bins[kDigit], shared);
      } else {
        if (place.thread == 0) choose<kShift>(shared.bins[kDigit], shared);
      }
    } else if constexpr (kPhase == 3 * kDigits + 1) {
      count_kept(place.thread, block, shared, local);
    } else if constexpr (kPhase == 3 * kDigits + 2) {
      if (place.thread < kGroups) add_up_kept(place.thread, shared);
    } else {
      write(place, block, shared, local);
    }
  }

 private:
  ROTA_TARGET void begin(unsigned thread, const TopKBlock& block, Shared& shared,
                         Local& local) const noexcept {
    for (auto& bins : shared.bins) bins[thread] = 0;
    if (thread == 0) {
      shared.threshold = 0;
      shared.wanted = static_cast<unsigned>(block.kept);
    }
    const Source source(values, count * sizeof(float));
    const std::size_t first = block.first + std::size_t{thread} * kTopKOwn;
    const auto loaded = source.load<kTopKOwn * sizeof(float)>(first * sizeof(float));
    std::memcpy(local.bits, loaded.bytes, sizeof(local.bits));
  }

  // Counts the values of a digit among the elements that begin with the known digits.
  template <unsigned kShift>
  ROTA_TARGET static void count_digits(unsigned thread, const TopKBlock& block, unsigned* bins,
                                       const Shared& shared, const Local& local) noexcept {
    ROTA_UNROLL
    for (unsigned i = 0; i < kTopKOwn; ++i) {
      const std::uint64_t magnitude = local.bits[i] & kMagnitude;
      const bool is_candidate = (magnitude ^ shared.threshold) >> (kShift + 8) == 0;
      if (is_candidate && thread * kTopKOwn + i < block.count) {
        add_shared(bins[magnitude >> kShift & (kValues - 1)], 1);
      }
    }
  }

  ROTA_TARGET static void add_up(unsigned group, const unsigned* bins, Shared& shared) noexcept {
    unsigned sum = 0;
    for (unsigned i = 0; i < kGroup; ++i) sum += bins[group * kGroup + i];
    shared.sums[group] = sum;
  }

  // Finds the digit of the last kept element. Leaves in `wanted` how many elements are to be kept
  // that have this digit too.
  template <unsigned kShift>
  ROTA_TARGET static void choose(const unsigned* bins, Shared& shared) noexcept {
    unsigned wanted = shared.wanted;
    unsigned group = kGroups - 1;
    for (; group > 0 && shared.sums[group] < wanted; --group) wanted -= shared.sums[group];
    unsigned digit = group * kGroup + kGroup - 1;
    for (; digit > 0 && bins[digit] < wanted; --digit) wanted -= bins[digit];
    shared.wanted = wanted;
    shared.threshold |= digit << kShift;
  }

  ROTA_TARGET static void count_kept(unsigned thread, const TopKBlock& block, Shared& shared,
                                     const Local& local) noexcept {
    Numbers own = {0, 0};
    ROTA_UNROLL
    for (unsigned i = 0; i < kTopKOwn; ++i) {
      if (thread * kTopKOwn + i >= block.count) continue;
      const std::uint32_t magnitude = local.bits[i] & kMagnitude;
      if (magnitude > shared.threshold) ++own.above;
      if (magnitude == shared.threshold) ++own.equal;
    }
    shared.own[thread] = own;
  }

  ROTA_TARGET static void add_up_kept(unsigned group, Shared& shared) noexcept {
    Numbers sum = {0, 0};
    for (unsigned i = 0; i < kGroup; ++i) add(sum, shared.own[group * kGroup + i]);
    shared.of_groups[group] = sum;
  }

  ROTA_TARGET static void add(Numbers& sum, const Numbers& more) noexcept {
    sum.above = static_cast<std::uint16_t>(sum.above + more.above);
    sum.equal = static_cast<std::uint16_t>(sum.equal + more.equal);
  }

  // Writes what a thread keeps of its elements, after what the threads before it keep.
  ROTA_TARGET void write(const Place& place, const TopKBlock& block, const Shared& shared,
                         const Local& local) const noexcept {
    Numbers before = {0, 0};
    const unsigned group = place.thread / kGroup;
    for (unsigned i = 0; i < group; ++i) add(before, shared.of_groups[i]);
    for (unsigned i = group * kGroup; i < place.thread; ++i) add(before, shared.own[i]);
    unsigned equal = before.equal;
    std::size_t next = before.above + (equal < shared.wanted ? equal : shared.wanted);
    std::byte* places = coded + std::size_t{place.block} * kTopKBlockBytes;
    std::byte* kept = places + block.kept * kPlaceBytes;
    ROTA_UNROLL
    for (unsigned i = 0; i < kTopKOwn; ++i) {
      const unsigned index = place.thread * kTopKOwn + i;
      if (index >= block.count) continue;
      const std::uint32_t magnitude = local.bits[i] & kMagnitude;
      const bool is_equal = magnitude == shared.threshold;
      const bool is_kept = magnitude > shared.threshold || (is_equal && equal < shared.wanted);
      if (is_equal) ++equal;
      if (!is_kept) continue;
      const auto position = static_cast<std::uint16_t>(index);
      std::memcpy(places + next * kPlaceBytes, &position, kPlaceBytes);
      std::memcpy(kept + next * sizeof(float), &local.bits[i], sizeof(float));
      ++next;
    }
  }
};

template <class Operation>
struct TopKDecode {
  static constexpr unsigned kThreads = kTopKThreads;
  static constexpr unsigned kPhases = 3;
  using Single = cpu::Same<float>;

  struct Shared {
    float values[kTopKBlock];
  };
  using Local = Nothing;

  std::byte* to;
  const std::byte* from;
  const std::byte* coded;
  std::size_t count;
  float factor;

  template <unsigned kPhase>
  ROTA_TARGET void run(const Place& place, Shared& shared, Local&) const noexcept {
    const TopKBlock block = TopKBlock::at(place.block, count);
    if constexpr (kPhase == 0) {
      for (unsigned i = 0; i < kTopKOwn; ++i) shared.values[i * kThreads + place.thread] = 0;
    } else if constexpr (kPhase == 1) {
      if (place.thread < block.kept) place_value(place, block, shared);
    } else {
      ROTA_UNROLL
      for (unsigned i = 0; i < kTopKOwn; ++i) {
        const unsigned index = i * kThreads + place.thread;
        if (index < block.count) decode(block.first + index, shared.values[index]);
      }
    }
  }

 private:
  ROTA_TARGET void place_value(const Place& place, const TopKBlock& block,
                               Shared& shared) const noexcept {
    const std::byte* places = coded + std::size_t{place.block} * kTopKBlockBytes;
    const std::byte* kept = places + block.kept * kPlaceBytes;
    std::uint16_t position = 0;
    std::memcpy(&position, places + place.thread * kPlaceBytes, kPlaceBytes);
    if (position >= block.count) return;
    shared.values[position] = Single::load(kept + place.thread * sizeof(float));
  }

  ROTA_TARGET void decode(std::size_t index, float decoded) const noexcept {
    const std::size_t at = index * sizeof(float);
    const bool is_aligned = misalignment(to, sizeof(float)) == 0 &&  //
                            misalignment(from, sizeof(float)) == 0;
    if (is_aligned) {
      store_piece(to + at, Operation::of(load_piece<float>(from + at), decoded, factor));
    } else {
      Single::store(to + at, Operation::of(Single::load(from + at), decoded, factor));
    }
  }
};

inline std::size_t top_k_blocks(std::size_t count) noexcept {
  return (count + kTopKBlock - 1) / kTopKBlock;
}

inline Status encode_top_k(const Queue& queue, std::byte* coded, const std::byte* values,
                           std::size_t count, Dither) noexcept {
  return launch(queue, top_k_blocks(count), TopKEncode{coded, values, count});
}

template <class Operation>
Status decode_top_k(const Queue& queue, std::byte* to, const std::byte* from,
                    const std::byte* coded, std::size_t count, float factor) noexcept {
  return launch(queue, top_k_blocks(count), TopKDecode<Operation>{to, from, coded, count, factor});
}

}  // namespace rota::kernels::cuda
