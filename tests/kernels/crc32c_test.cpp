// Every way to compute CRC-32C must give the checksum that RFC 3720 defines.
// Method: the reference divides the polynomial bit by bit. Lengths go around the sizes of the
// blocks that the kernels work on, and the bytes begin at every offset of a word.
#include "kernels/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace rota::kernels {
namespace {

using Bytes = std::vector<std::byte>;

std::uint32_t bitwise(std::span<const std::byte> bytes) {
  std::uint32_t state = 0xffff'ffff;
  for (const std::byte byte : bytes) {
    state ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) * 0x82f6'3b78);
  }
  return ~state;
}

Bytes random_bytes(std::size_t count) {
  std::mt19937 random(17);  // NOLINT: the same bytes in each run.
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

std::uint32_t sum_by(const Crc32c& row, std::span<const std::byte> bytes) {
  return ~row.extend(0xffff'ffff, bytes.data(), bytes.size());
}

std::vector<const Crc32c*> supported_rows() {
  std::vector<const Crc32c*> rows;
  for (const Crc32c* row : Crc32c::table()) {
    if (row->supported()) rows.push_back(row);
  }
  return rows;
}

Bytes counting(int first, int step) {
  Bytes bytes(32);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(first);
    first += step;
  }
  return bytes;
}

// RFC 3720, section B.4.
TEST(Crc32c, GivesTheSumsOfTheStandard) {
  const Bytes read_command = [] {
    Bytes bytes(48);
    const auto set = [&](std::size_t at, int value) { bytes[at] = static_cast<std::byte>(value); };
    set(0, 0x01);
    set(1, 0xc0);
    set(16, 0x14);
    set(22, 0x04);
    set(27, 0x14);
    set(31, 0x18);
    set(32, 0x28);
    set(40, 0x02);
    return bytes;
  }();
  for (const Crc32c* row : supported_rows()) {
    EXPECT_EQ(sum_by(*row, Bytes(32)), 0x8a91'36aa) << row->name;
    EXPECT_EQ(sum_by(*row, Bytes(32, std::byte{0xff})), 0x62a8'ab43) << row->name;
    EXPECT_EQ(sum_by(*row, counting(0, 1)), 0x46dd'794e) << row->name;
    EXPECT_EQ(sum_by(*row, counting(31, -1)), 0x113f'db5c) << row->name;
    EXPECT_EQ(sum_by(*row, read_command), 0xd996'3a56) << row->name;
  }
}

TEST(Crc32c, GivesTheSumOfTheDigits) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe306'9283);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, OfShortBytesAtEveryOffset) {
  const Bytes bytes = random_bytes(300 + 8);
  for (std::size_t offset = 0; offset < 8; ++offset) {
    for (std::size_t count = 0; count <= 300; ++count) {
      const auto part = std::span(bytes).subspan(offset, count);
      const std::uint32_t expected = bitwise(part);
      for (const Crc32c* row : supported_rows()) {
        ASSERT_EQ(sum_by(*row, part), expected) << row->name << ", " << count << " at " << offset;
      }
    }
  }
}

TEST(Crc32c, OfBytesAroundTheSizesOfBlocks) {
  const Bytes bytes = random_bytes(60'000);
  for (const std::size_t size : {768U, 1536U, 24'576U, 24'576U + 768, 49'152U}) {
    for (std::size_t count = size - 9; count <= size + 9; ++count) {
      const auto part = std::span(bytes).subspan(count % 8, count);
      const std::uint32_t expected = bitwise(part);
      for (const Crc32c* row : supported_rows()) {
        ASSERT_EQ(sum_by(*row, part), expected) << row->name << ", " << count;
      }
    }
  }
}

TEST(Crc32c, GoesOnFromTheSumOfEarlierBytes) {
  const Bytes bytes = random_bytes(2000);
  const std::span<const std::byte> all = bytes;
  for (std::size_t first = 0; first <= all.size(); first += 13) {
    const std::uint32_t earlier = crc32c(all.first(first));
    ASSERT_EQ(crc32c(all.subspan(first), earlier), crc32c(all)) << first;
  }
}

TEST(Crc32c, HasARowThatRunsEverywhere) {
  EXPECT_STREQ(Crc32c::table().back()->name, "scalar");
  EXPECT_TRUE(Crc32c::table().back()->supported());
}

}  // namespace
}  // namespace rota::kernels
