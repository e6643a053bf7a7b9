// Makes IDX files byte by byte: correct ones, and files with one chosen error.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace rota::testing {

using Bytes = std::vector<std::uint8_t>;

inline void append_number(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

// Returns a header with any magic number and any dimensions.
inline Bytes idx_header(std::uint32_t magic, const std::vector<std::uint32_t>& dimensions) {
  Bytes bytes;
  append_number(bytes, magic);
  for (const std::uint32_t dimension : dimensions) append_number(bytes, dimension);
  return bytes;
}

constexpr std::uint32_t kImageMagic = 0x00000803;
constexpr std::uint32_t kLabelMagic = 0x00000801;

// Returns a file of images. Pixel i, counted over all images, is i % 251.
inline Bytes idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  Bytes bytes = idx_header(kImageMagic, {count, rows, columns});
  for (std::size_t i = 0; i < std::size_t{count} * rows * columns; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % 251));
  }
  return bytes;
}

// Returns a file of labels. Label i is i % classes.
inline Bytes idx_labels(std::uint32_t count, std::uint32_t classes) {
  Bytes bytes = idx_header(kLabelMagic, {count});
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % classes));
  return bytes;
}

inline Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  Bytes packed(::deflateBound(&stream, static_cast<uLong>(plain.size())) + 32);
  Bytes input = plain;  // zlib wants writable input.
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

inline Bytes joined(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Bytes first_of(const Bytes& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Inverts the byte at `position`; a negative position counts from the end.
inline Bytes with_damage(Bytes bytes, std::ptrdiff_t position) {
  const auto end = static_cast<std::ptrdiff_t>(bytes.size());
  bytes[static_cast<std::size_t>(position < 0 ? end + position : position)] ^= 0xff;
  return bytes;
}

}  // namespace rota::testing
