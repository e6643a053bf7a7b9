// Encodes an image as a PNG file.
#pragma once
#include <rota/model.h>

#include <cstdint>
#include <span>
#include <string>

namespace rota::formats {

// `pixels` are rows × columns × channels, row-major. Requires 1 channel (grey) or 3 (red, green,
// blue), at least one pixel, and at most 2^31 - 1 rows and columns. The result depends on the
// arguments and zlib's version alone.
std::string encode_png(ImageShape shape, std::span<const std::uint8_t> pixels);

}  // namespace rota::formats
