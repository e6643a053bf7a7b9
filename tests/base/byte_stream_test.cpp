// Message fields come back as they were written, and damaged fields are noticed.
#include "base/byte_stream.h"

#include <gtest/gtest.h>

namespace rota::base {
namespace {

TEST(ByteStream, ReadsWhatWasWritten) {
  ByteWriter out;
  out.write(std::uint8_t{7});
  out.write(std::uint64_t{0x0123456789abcdef});
  out.write(std::string_view("text\0with a zero", 16));
  out.write(std::uint32_t{9});
  const auto bytes = out.take();
  EXPECT_EQ(bytes[1], std::byte{0xef});  // Little-endian.

  ByteReader in(bytes);
  EXPECT_EQ(in.read<std::uint8_t>(), 7);
  EXPECT_EQ(in.read<std::uint64_t>(), 0x0123456789abcdefU);
  EXPECT_EQ(in.read_text(), std::string("text\0with a zero", 16));
  EXPECT_EQ(in.read<std::uint32_t>(), 9U);
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(ByteStream, EveryTruncationIsNoticedAndNothingIsReadBeyondTheEnd) {
  ByteWriter out;
  out.write(std::uint32_t{1});
  out.write(std::string_view("hello"));
  const auto bytes = out.take();
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<long>(kept));
    ByteReader in(part);
    in.read<std::uint32_t>();
    in.read_text();
    EXPECT_FALSE(in.ok()) << "with " << kept << " bytes";
  }
}

TEST(ByteStream, ALengthBeyondTheEndReadsAsNothing) {
  const auto bytes = std::vector<std::byte>(4, std::byte{0xff});
  ByteReader huge(bytes);
  EXPECT_EQ(huge.read_text(), "");
  EXPECT_FALSE(huge.ok());
}

}  // namespace
}  // namespace rota::base
