// Blocks from an arena are zeroed, do not overlap, and can be given back. The arena refuses a block
// when there is no room. Method: operator new fails on demand.
#include "memory/arena.h"

#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <rota/error.h>

#include "memory/host_block.h"
#include "os/host.h"

namespace {
bool fails_now = false;
}  // namespace

// Not inlined: otherwise the compiler would see malloc and free where it expects new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* start = fails_now ? nullptr : std::malloc(bytes);
  if (!start) throw std::bad_alloc();
  return start;
}
[[gnu::noinline]] void operator delete(void* start) noexcept { std::free(start); }
[[gnu::noinline]] void operator delete(void* start, std::size_t) noexcept { std::free(start); }

namespace rota::memory {
namespace {

struct Shared {
  explicit Shared(std::size_t bytes) : mapping(os::make_shared_memory("arena-test", bytes)) {}
  os::SharedMapping mapping;
};

std::shared_ptr<Arena> make_arena(std::size_t bytes, std::size_t page_bytes = os::page_bytes()) {
  auto shared = std::make_shared<Shared>(bytes);
  return std::make_shared<Arena>(shared->mapping, 0, shared, page_bytes);
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

TEST(Arena, BlocksAreZeroedAlignedAndApart) {
  const auto arena = make_arena(1 << 20);
  const Block first = arena->allocate(100);
  const Block second = arena->allocate(5000);
  EXPECT_TRUE(all_zero(first.bytes()) && all_zero(second.bytes()));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.bytes().data()) % kAlignment, 0U);
  EXPECT_GE(second.bytes().data(), first.bytes().data() + 100);
}

// Kernels of ARM have pages of 4, 16 or 64 KiB.
TEST(Arena, EachBlockStartsOnItsOwnPageWhateverItsSize) {
  for (const std::size_t page : {4096, 16384, 65536}) {
    const auto arena = make_arena(4 * page, page);
    const Block first = arena->allocate(1);
    const Block second = arena->allocate(page + 1);
    const Block third = arena->allocate(1);
    EXPECT_EQ(second.bytes().data(), first.bytes().data() + page);
    EXPECT_EQ(third.bytes().data(), first.bytes().data() + 3 * page);
    EXPECT_THROW(arena->allocate(1), Error);
  }
}

TEST(Arena, WhatComesBackIsZeroedAndUsedAgain) {
  const auto arena = make_arena(1 << 16);
  for (int round = 0; round < 100; ++round) {
    const Block whole = arena->allocate(1 << 16);
    ASSERT_TRUE(all_zero(whole.bytes())) << "round " << round;
    std::memset(whole.bytes().data(), 0xff, whole.bytes().size());
  }
}

TEST(Arena, NeighboursGrowTogetherAgainInAnyOrder) {
  const auto arena = make_arena(64 * os::page_bytes());
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Block> blocks;
    blocks.reserve(64);
    for (int i = 0; i < 64; ++i) blocks.push_back(arena->allocate(1));
    std::shuffle(blocks.begin(), blocks.end(), random);
    blocks.clear();
    EXPECT_NO_THROW(arena->allocate(64 * os::page_bytes()));
  }
}

TEST(Arena, SaysWhenItIsFull) {
  const auto arena = make_arena(1 << 16);
  const Block most = arena->allocate(1 << 15);
  try {
    arena->allocate((1 << 15) + 1);
    FAIL() << "a full arena gave a block";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoMemory);
    EXPECT_NE(std::string(error.what()).find("32769 contiguous bytes"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(arena->allocate(~std::size_t{0}), Error);
}

// Without a look at the host, Linux would give the block, and kill a process when its pages are
// used.
TEST(Arena, RefusesABlockThatTheHostHasNoMemoryFor) {
  constexpr std::uint64_t kMiB = 1 << 20;
  std::uint64_t left = 20 * kMiB;
  auto shared = std::make_shared<Shared>(64 * kMiB);
  const auto arena = std::make_shared<Arena>(shared->mapping, 0, shared, os::page_bytes(),
                                             [&left] { return left; });
  try {
    arena->allocate(32 * kMiB);
    FAIL() << "a full host gave a block";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoMemory);
    EXPECT_NE(std::string(error.what()).find("only 20971520 bytes of memory and swap"),
              std::string::npos)
        << error.what();
  }
  left = 128 * kMiB;
  EXPECT_NO_THROW(arena->allocate(64 * kMiB)) << "the refused block was lost";
}

// A caller that runs out of memory gives back the blocks that it has got so far. So the arena must
// take blocks back even if operator new fails.
TEST(Arena, TakesBlocksBackWhereNothingCanBeAllocated) {
  const auto arena = make_arena(4 * os::page_bytes());
  Block first = arena->allocate(1);
  Block second = arena->allocate(1);
  Block third = arena->allocate(1);
  bool is_refused = false;
  fails_now = true;
  second = {};
  try {
    second = arena->allocate(1);  // Fits exactly, so no rest of the range has to be recorded.
    third = {};
    third = arena->allocate(1);
  } catch (const std::bad_alloc&) {
    is_refused = true;
  }
  first = {};
  fails_now = false;
  EXPECT_TRUE(is_refused);
  second = {};
  EXPECT_NO_THROW(arena->allocate(4 * os::page_bytes())) << "a part of the arena was lost";
}

TEST(Arena, ABlockMayOutliveEverythingElse) {
  Block block;
  {
    const auto arena = make_arena(1 << 16);
    block = arena->allocate(4096);
  }
  std::memset(block.bytes().data(), 1, 4096);
  EXPECT_EQ(block.bytes()[4095], std::byte{1});
}

// A large block has pages of its own, which malloc counts apart.
TEST(Host, LosesNoMemoryIfItsOwnerCannotBeMade) {
  const std::size_t before = ::mallinfo2().hblkhd;
  bool is_refused = false;
  fails_now = true;
  try {
    allocate_host(std::size_t{64} << 20);
  } catch (const std::bad_alloc&) {
    is_refused = true;
  }
  fails_now = false;
  EXPECT_TRUE(is_refused);
  EXPECT_EQ(::mallinfo2().hblkhd, before);
}

TEST(Host, RefusesWhatNobodyHas) {
  EXPECT_THROW(allocate_host(~std::size_t{0}), Error);
  EXPECT_TRUE(allocate_host(0).bytes().empty());
}

}  // namespace
}  // namespace rota::memory
