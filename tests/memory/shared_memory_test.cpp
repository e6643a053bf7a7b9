// Reserved shared memory is backed by real pages: all of it, or nothing. Linux gives pages that it
// does not have, and kills a process later. So the host is asked before.
#include "os/shared_mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "os/host.h"
#include "testing/error_of.h"

namespace rota::os {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t backed_bytes(int memory) {
  struct stat status {};
  EXPECT_EQ(::fstat(memory, &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

TEST(SharedMemory, IsBackedWhereItWasReserved) {
  Fd memory = make_shared_memory("test", 32 * kMiB);
  const int number = memory.get();
  SharedMapping mapping(std::move(memory));
  EXPECT_EQ(backed_bytes(number), 0U);
  mapping.reserve(kMiB, 19 * kMiB);
  EXPECT_EQ(backed_bytes(number), 19 * kMiB);
  mapping.discard(kMiB, 19 * kMiB);
  EXPECT_EQ(backed_bytes(number), 0U);
}

// Method: a seal keeps the memory from growing, so the last page of the reservation, past the end,
// is refused.
TEST(SharedMemory, IsGivenBackWhenItsLastPageIsRefused) {
  Fd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int number = memory.get();
  ASSERT_EQ(::ftruncate(number, 32 * kMiB), 0);
  ASSERT_EQ(::fcntl(number, F_ADD_SEALS, F_SEAL_GROW), 0);
  SharedMapping mapping(std::move(memory));
  EXPECT_THROW(mapping.reserve(0, 32 * kMiB + 4096), Error);
  EXPECT_EQ(backed_bytes(number), 0U);
}

// No program has so many addresses: one of 32 bits cannot even count so far.
TEST(SharedMemory, ThatDoesNotFitIsRefused) {
  for (const std::uint64_t bytes : {std::uint64_t{1} << 62, (std::uint64_t{1} << 62) + kMiB}) {
    Fd memory(::memfd_create("test", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(memory.get(), static_cast<off_t>(bytes)), 0);
    const auto error = rota::testing::error_of([&] { SharedMapping mapping(std::move(memory)); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
    EXPECT_NE(std::string(error->what()).find("mmap of " + std::to_string(bytes)),
              std::string::npos)
        << error->what();
  }
}

// A rotarun of 64 bits makes memory for each rank that a rank of 32 bits can map alone, but not
// beside that of the other ranks. On 64 bits, the test has nothing to do.
TEST(SharedMemory, ThatDoesNotFitBesideThatOfOthersSaysWhatToDo) {
  if constexpr (sizeof(void*) == 4) {
    const auto error = rota::testing::error_of([] {
      std::vector<SharedMapping> mappings;
      for (int i = 0; i < 4; ++i) mappings.emplace_back(make_shared_memory("test", 1024 * kMiB));
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
    EXPECT_NE(std::string(error->what())
                  .find("mmap of 1073741824 shared bytes: a 32-bit program has no addresses for "
                        "them; limit them with ulimit -f, or use a 32-bit rotarun"),
              std::string::npos)
        << error->what();
  }
}

std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * page_bytes();
}

// Returns how many bytes of files in memory this process has mapped. Other mappings do not count: a
// sanitizer makes some of its own, at any time.
std::uint64_t mapped_memory_files() {
  std::uint64_t bytes = 0;
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    if (line.find("memfd:") == std::string::npos) continue;
    std::size_t dash = 0;
    const std::uint64_t begin = std::stoull(line, &dash, 16);
    bytes += std::stoull(line.substr(dash + 1), nullptr, 16) - begin;
  }
  return bytes;
}

// A mapping begins at a certain place. If a try has found another place, its addresses are given
// back: a process whose addresses are limited (ulimit -v) needs them for further mappings.
TEST(SharedMemory, TakesNoMoreAddressesThanItsOwn) {
  for (const std::size_t page : {page_bytes(), 4 * page_bytes(), 16 * page_bytes()}) {
    {
      const SharedMapping mapping(make_shared_memory("test", 32 * kMiB), 17 * page, page);
      EXPECT_EQ(mapped_memory_files(), 32 * kMiB);
      EXPECT_EQ(mapping.bytes().size(), 32 * kMiB);
      mapping.bytes().front() = mapping.bytes().back() = std::byte{7};
    }
    EXPECT_EQ(mapped_memory_files(), 0U);
  }
}

// Arenas may take all of the addresses that are left, so each needs no more than its own, even for
// a moment. Method: the limit leaves less than the 256 MiB between two places.
TEST(SharedMemory, IsAtItsPlaceEvenIfFewAddressesAreLeft) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const std::size_t place = 17 * page_bytes();
  SharedMapping first;
  SharedMapping second;
  const rlimit low{mapped_bytes() + 164 * kMiB, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &low), 0);
  const auto error = rota::testing::error_of([&] {
    first = SharedMapping(make_shared_memory("first", 32 * kMiB), place);
    second = SharedMapping(make_shared_memory("second", 32 * kMiB), 2 * place);
  });
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_FALSE(error) << error->what();
  if constexpr (sizeof(void*) == 8) {
    constexpr std::size_t kStep = std::size_t{1} << 28;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.bytes().data()) % kStep, place);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.bytes().data()) % kStep, 2 * place);
  }
}

// Kernels of ARM have pages of 4, 16 or 64 KiB, and map memory only at whole pages. Method: the
// size of a page is given, and is at least that of this machine.
TEST(SharedMemory, BeginsAtItsPlaceInWholePages) {
  if constexpr (sizeof(void*) == 8) {
    const std::pair<std::size_t, std::size_t> expected[] = {
        {4096, 17 * 4096}, {16384, 5 * 16384}, {65536, 2 * 65536}};
    for (const auto& [page, place] : expected) {
      if (page < page_bytes()) continue;
      const SharedMapping mapping(make_shared_memory("test", 32 * kMiB), 17 * 4096, page);
      const auto address = reinterpret_cast<std::uintptr_t>(mapping.bytes().data());
      EXPECT_EQ(address % (std::size_t{1} << 28), place) << "pages of " << page;
      mapping.bytes().front() = mapping.bytes().back() = std::byte{7};
    }
  }
}

// Small mappings leave gaps below 256 MiB, in which the system finds room at wrong places.
TEST(SharedMemory, OfManySmallArenasBeginsAtItsPlaces) {
  constexpr std::size_t kStep = std::size_t{1} << 28;
  std::vector<SharedMapping> mappings;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t place = 17 * i * page_bytes();
    mappings.emplace_back(make_shared_memory("test", 2 * kMiB), place);
    const auto address = reinterpret_cast<std::uintptr_t>(mappings.back().bytes().data());
    if (sizeof(void*) == 8) {
      EXPECT_EQ(address % kStep, place) << "mapping " << i;
    }
    mappings.back().bytes().back() = static_cast<std::byte>(i);
  }
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    EXPECT_EQ(mappings[i].bytes().front(), std::byte{0}) << "mapping " << i;
    EXPECT_EQ(mappings[i].bytes().back(), static_cast<std::byte>(i));
  }
}

TEST(SharedMemory, IsRefusedWhereTheHostHasTooLittleLeft) {
  Fd memory = make_shared_memory("test", 32 * kMiB);
  const int number = memory.get();
  SharedMapping mapping(std::move(memory));
  const auto error = rota::testing::error_of(
      [&] { mapping.reserve(0, 20 * kMiB, [] { return std::uint64_t{36 * kMiB - 1}; }); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
  EXPECT_STREQ(error->what(),
               "reserving 20971520 bytes of shared memory: 20971520 more are needed and 16777216 "
               "must stay free, but this host has only 37748735 bytes of memory and swap left: "
               "allocate less, or run fewer ranks on this host");
  EXPECT_EQ(backed_bytes(number), 0U);
}

TEST(SharedMemory, IsReservedWhereItJustFitsOrTheHostSaysNothing) {
  Fd memory = make_shared_memory("test", 32 * kMiB);
  const int number = memory.get();
  SharedMapping mapping(std::move(memory));
  std::uint64_t left = 36 * kMiB;
  mapping.reserve(0, 20 * kMiB, [&] {
    const std::uint64_t now = left;
    left -= 2 * kMiB;  // A slice.
    return now;
  });
  EXPECT_EQ(backed_bytes(number), 20 * kMiB);
  mapping.reserve(20 * kMiB, kMiB, [] { return std::optional<std::uint64_t>(); });
  EXPECT_EQ(backed_bytes(number), 21 * kMiB);
}

// Ranks of one host reserve at the same time, and each had found room.
TEST(SharedMemory, IsGivenBackWhenOtherRanksTakeWhatWasLeft) {
  Fd memory = make_shared_memory("test", 32 * kMiB);
  const int number = memory.get();
  SharedMapping mapping(std::move(memory));
  std::uint64_t left = 64 * kMiB;
  std::size_t most_backed = 0;
  const auto two_ranks_take = [&] {
    most_backed = std::max(most_backed, backed_bytes(number));
    const std::uint64_t now = left;
    left -= 8 * kMiB;
    return now;
  };
  EXPECT_THROW(mapping.reserve(0, 32 * kMiB, two_ranks_take), Error);
  EXPECT_EQ(most_backed, 6 * kMiB);
  EXPECT_EQ(backed_bytes(number), 0U);
}

void ignore(int) {}

// Older kernels undo a reservation that a signal interrupts. A profiler sends a thousand signals a
// second.
TEST(SharedMemory, IsReservedWhileSignalsComeInCloseOrder) {
  struct sigaction action {};
  action.sa_handler = ignore;
  action.sa_flags = SA_RESTART;
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval each_millisecond{{0, 1000}, {0, 1000}};
  const itimerval never{};
  Fd memory = make_shared_memory("test", 64 * kMiB);
  const int number = memory.get();
  SharedMapping mapping(std::move(memory));
  ::setitimer(ITIMER_REAL, &each_millisecond, nullptr);
  mapping.reserve(0, 64 * kMiB);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(backed_bytes(number), 64 * kMiB);
}

}  // namespace
}  // namespace rota::os
