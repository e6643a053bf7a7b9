// A PNG file has the pixels that were given: the test reads its chunks and inflates the data.
#include "formats/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string_view>
#include <vector>

namespace rota::formats {
namespace {

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

// Takes the next chunk from the front of `file`, and returns its name and its data.
std::pair<std::string, std::string> take_chunk(std::string_view& file) {
  const std::size_t length = big_endian(file);
  const std::string_view checked = file.substr(4, 4 + length);
  EXPECT_EQ(big_endian(file.substr(8 + length)),
            ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                    static_cast<uInt>(checked.size())));
  file.remove_prefix(12 + length);
  return {std::string(checked.substr(0, 4)), std::string(checked.substr(4))};
}

// Returns the rows. Before each row is the number of its filter.
std::string inflate_rows(const std::string& data, std::size_t bytes) {
  std::string rows(bytes + 1, '\0');
  uLongf size = rows.size();
  EXPECT_EQ(::uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                         reinterpret_cast<const Bytef*>(data.data()), data.size()),
            Z_OK);
  rows.resize(size);
  return rows;
}

void expect_pixels(ImageShape shape, char colour) {
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < shape.count(); ++i) {
    pixels.push_back(static_cast<std::uint8_t>(i * 37));
  }
  const std::string file = encode_png(shape, pixels);
  std::string_view rest = file;
  ASSERT_TRUE(rest.starts_with("\x89PNG\r\n\x1a\n"));
  rest.remove_prefix(8);
  const auto [header_name, header] = take_chunk(rest);
  EXPECT_EQ(header_name, "IHDR");
  EXPECT_EQ(big_endian(header), shape.columns);
  EXPECT_EQ(big_endian(std::string_view(header).substr(4)), shape.rows);
  EXPECT_EQ(header.substr(8), std::string({8, colour, 0, 0, 0}));
  const auto [data_name, data] = take_chunk(rest);
  EXPECT_EQ(data_name, "IDAT");
  const std::size_t row = shape.columns * shape.channels;
  std::string rows;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(pixels.data()) + i * row, row);
  }
  EXPECT_EQ(inflate_rows(data, rows.size()), rows);
  EXPECT_EQ(take_chunk(rest).first, "IEND");
  EXPECT_TRUE(rest.empty());
}

TEST(Png, HasTheGivenPixels) {
  expect_pixels({1, 1, 1}, 0);
  expect_pixels({28, 28, 1}, 0);
  expect_pixels({3, 2, 3}, 2);
  expect_pixels({400, 301, 3}, 2);
}

}  // namespace
}  // namespace rota::formats
