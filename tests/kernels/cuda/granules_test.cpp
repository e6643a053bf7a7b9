// Loads and stores 16 bytes at addresses of any alignment, and splits arrays into runs. On the
// host, each access checks that it is aligned.
#include "kernels/cuda/granules.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/cuda/map.h"

namespace rota::kernels::cuda {
namespace {

struct alignas(64) Array {
  std::byte bytes[128];

  Array() noexcept {
    for (std::size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = static_cast<std::byte>(i);
  }
};

template <std::size_t kBytes>
std::vector<int> numbers_of(const Bytes<kBytes>& bytes) {
  std::vector<int> numbers;
  for (const std::byte each : bytes.bytes) numbers.push_back(std::to_integer<int>(each));
  return numbers;
}

std::vector<int> from(int first, std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

TEST(Granules, AreLoadedFromAnyAddress) {
  const Array array;
  for (int at = 16; at < 64; ++at) {
    EXPECT_EQ(numbers_of(load_granules<16>(array.bytes + at)), from(at, 16));
    EXPECT_EQ(numbers_of(load_granules<48>(array.bytes + at)), from(at, 48));
  }
}

TEST(Granules, AreStoredAtAnyAddress) {
  const Array source;
  for (std::size_t at = 0; at < 32; ++at) {
    Array array;
    store_granules(array.bytes + at, load_granules<32>(source.bytes + 64));
    store_granules(array.bytes + at + 32, Bytes<8>{});
    for (std::size_t i = 0; i < sizeof(array.bytes); ++i) {
      const std::size_t expected = i < at ? i : i < at + 32 ? i - at + 64 : i < at + 40 ? 0 : i;
      ASSERT_EQ(std::to_integer<std::size_t>(array.bytes[i]), expected) << i << ", at " << at;
    }
  }
}

// Whatever lies around an array is not read: it may be in a page that does not exist.
TEST(Granules, OfASourceEndWithItsArray) {
  const Array array;
  for (std::size_t begin = 0; begin < 20; ++begin) {
    for (std::size_t bytes = 1; bytes < 70; ++bytes) {
      const std::vector<std::byte> alone(array.bytes + begin, array.bytes + begin + bytes);
      const Source source(alone.data(), bytes);
      for (std::size_t at = 0; at < bytes + 20; at += 4) {
        const auto numbers = numbers_of(source.load<16>(at));
        for (std::size_t i = 0; i < 16; ++i) {
          const std::size_t expected = at + i < bytes ? begin + at + i : 0;
          ASSERT_EQ(static_cast<std::size_t>(numbers[i]), expected);
        }
      }
    }
  }
}

TEST(Split, GivesRunsThatAreAlignedAndHaveMargins) {
  const Array array;
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    const std::size_t run = kGranule / bytes;
    for (std::size_t shift = 0; shift < 16; ++shift) {
      std::size_t most_alone = 0;
      for (std::size_t count = 1; count < 300; ++count) {
        const Split parts = split(array.bytes + shift, bytes, count, run);
        const std::size_t end = parts.head + parts.runs * run;
        ASSERT_EQ(parts.count, count);
        ASSERT_LE(end, count);
        most_alone = std::max(most_alone, count - parts.runs * run);
        if (parts.runs == 0) continue;
        ASSERT_GE(parts.head, run);
        ASSERT_GE(count - end, run);
        if (shift % bytes == 0) {
          ASSERT_EQ(misalignment(array.bytes + shift + parts.head * bytes, kGranule), 0U);
        }
      }
      EXPECT_LT(most_alone, 4 * run) << "more elements than needed are done one by one";
    }
  }
}

}  // namespace
}  // namespace rota::kernels::cuda
