// Deals out contiguous elements to ranks: which rank has which part of the values.
#pragma once
#include <cstddef>

namespace rota {

// A contiguous part of a longer range of elements.
struct Slice {
  std::size_t offset = 0;
  std::size_t count = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// Returns the slice of `rank` if `count` elements are dealt out to `world_size` ranks in order.
// Slices differ by at most one element; the longer slices come first. Requires rank < world_size.
constexpr Slice slice_of(std::size_t count, std::size_t rank, std::size_t world_size) noexcept {
  const std::size_t share = count / world_size;
  const std::size_t longer = count % world_size;
  const std::size_t before = rank < longer ? rank : longer;
  return {rank * share + before, share + (rank < longer ? 1 : 0)};
}

// Chunks begin at multiples of this number of elements. So two ranks never write the same cache
// line, if the values are 64-byte aligned and elements have at least 4 bytes.
inline constexpr std::size_t kChunkGrain = 16;

// Returns the position of a chunk of an all-reduce of `count` elements. The chunk decides in which
// order the ranks' values of its elements are added: see docs/reproducibility.md. There are
// world_size chunks, and some may be empty. slice_of() deals out elements; chunk_of() deals out
// grains of kChunkGrain elements in the same way. The last grain may be shorter. Requires chunk <
// world_size.
constexpr Slice chunk_of(std::size_t count, std::size_t chunk, std::size_t world_size) noexcept {
  const std::size_t grains = count / kChunkGrain + (count % kChunkGrain == 0 ? 0 : 1);
  const Slice dealt = slice_of(grains, chunk, world_size);
  const std::size_t begin = dealt.offset < grains ? dealt.offset * kChunkGrain : count;
  const std::size_t last = dealt.offset + dealt.count;
  return {begin, (last < grains ? last * kChunkGrain : count) - begin};
}

}  // namespace rota
