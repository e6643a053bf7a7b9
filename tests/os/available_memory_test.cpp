// The memory that the host has left is read from the kernel's text.
#include "os/available_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::os {
namespace {

constexpr std::uint64_t kKibibyte = 1024;

TEST(AvailableMemory, IsMemoryAndSwap) {
  const std::string text =
      "MemTotal:         474640 kB\n"
      "MemFree:           10000 kB\n"
      "MemAvailable:     300000 kB\n"
      "SwapCached:            7 kB\n"
      "SwapTotal:        102396 kB\n"
      "SwapFree:         100001 kB\n";
  EXPECT_EQ(parse_available_memory(text), 400'001 * kKibibyte);
}

TEST(AvailableMemory, IsMemoryAloneWithoutSwap) {
  EXPECT_EQ(parse_available_memory("MemAvailable: 9000000 kB\n"), 9'000'000 * kKibibyte);
  EXPECT_EQ(parse_available_memory("MemAvailable: 0 kB"), 0U);
}

TEST(AvailableMemory, IsUnknownWhereTheKernelDoesNotSayIt) {
  for (const std::string text : {"", "MemFree: 10 kB\nSwapFree: 20 kB\n", "MemAvailable:\n",
                                 "MemAvailable: much kB\n", "OldMemAvailable: 3 kB\n"}) {
    EXPECT_FALSE(parse_available_memory(text)) << text;
  }
}

TEST(AvailableMemory, IsReadFromThisHost) { EXPECT_GT(available_memory_bytes().value_or(0), 0U); }

}  // namespace
}  // namespace rota::os
