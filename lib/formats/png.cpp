// A PNG file is a signature and chunks. A chunk has a length, a name, data and a checksum. The data
// of the image is compressed by zlib.
#include "formats/png.h"

#include <zlib.h>

#include <string_view>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::formats {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr char kDepth = 8;  // Bits of a channel.
constexpr char kGrey = 0;
constexpr char kColour = 2;

void append_big_endian(std::string& bytes, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255);
}

void append_chunk(std::string& file, std::string_view name, std::string_view data) {
  append_big_endian(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = file.size();
  file.append(name).append(data);
  const auto* checked = reinterpret_cast<const Bytef*>(file.data() + begin);
  append_big_endian(file, static_cast<std::uint32_t>(
                              ::crc32(0, checked, static_cast<uInt>(file.size() - begin))));
}

// PNG wants the number of a filter before each row. Filter 0 keeps the row as it is.
std::string filtered(ImageShape shape, std::span<const std::uint8_t> pixels) {
  const std::size_t row = shape.columns * shape.channels;
  std::string bytes;
  bytes.reserve(shape.rows * (row + 1));
  for (std::size_t i = 0; i < shape.rows; ++i) {
    bytes += '\0';
    bytes.append(reinterpret_cast<const char*>(pixels.data() + i * row), row);
  }
  return bytes;
}

std::string deflated(const std::string& bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string result(size, '\0');
  const int status = ::compress(reinterpret_cast<Bytef*>(result.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (status == Z_MEM_ERROR) {
    throw Error(ErrorCode::kNoMemory, "there is no memory to compress an image of " +
                                          std::to_string(bytes.size()) + " bytes");
  }
  ROTA_ASSERT(status == Z_OK);
  result.resize(size);
  return result;
}

}  // namespace

std::string encode_png(ImageShape shape, std::span<const std::uint8_t> pixels) {
  ROTA_ASSERT(pixels.size() == shape.count() && !pixels.empty());
  ROTA_ASSERT(shape.channels == 1 || shape.channels == 3);
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(shape.columns));
  append_big_endian(header, static_cast<std::uint32_t>(shape.rows));
  header += kDepth;
  header += shape.channels == 1 ? kGrey : kColour;
  header.append(3, '\0');  // The only compression, the only filters, not interlaced.
  std::string file(kSignature);
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", deflated(filtered(shape, pixels)));
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace rota::formats
