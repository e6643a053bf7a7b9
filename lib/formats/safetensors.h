// The header of a safetensors file: the names, types, shapes and places of its tensors. Without
// this file, rota could not exchange weights with other frameworks, and could not write
// checkpoints.
//
// A file has the length of the header (eight bytes, little-endian), the header (JSON), and the data
// of the tensors: https://huggingface.co/docs/safetensors gives the format. A header is refused if
// the format's reference library refuses it, and for these further reasons:
// - a name of a tensor, or a key of the metadata, occurs twice;
// - the header does not begin with '{', or is nested more than kDeepestHeader levels deep;
// - an entry is not an object, its dtype is not a string, or the metadata is null.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/values.h>

namespace rota::formats {

inline constexpr std::size_t kMaxHeaderBytes = 100'000'000;
inline constexpr std::size_t kHeaderLengthBytes = 8;
inline constexpr std::size_t kDeepestHeader = 8;
// The data begins at a multiple of this number of bytes in a file that rota writes. Spaces fill the
// header up to there.
inline constexpr std::size_t kDataAlignment = 64;

// Returns `name` as a message shows it: in quotes, on one line, and shortened to 64 characters.
std::string shown_name(std::string_view name);

struct TensorEntry {
  std::string name;
  DataType type = DataType::kFloat32;  // kByte stands for a type that rota does not have.
  std::vector<std::size_t> shape;      // Empty for a single number.
  // The place in the data, in bytes. The data begins after the header.
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view type_name = {};  // "F32", "BOOL", …; parse_header() sets it.
  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;  // In the order of their places.

  std::size_t data_bytes() const noexcept { return tensors.empty() ? 0 : tensors.back().end; }
  friend bool operator==(const SafetensorsHeader&, const SafetensorsHeader&) = default;
};

// Returns the name that the format has for `type`, such as "F32". Returns an empty text for kByte,
// for which the format has no name: write bytes as kUint8.
std::string_view type_name_of(DataType type) noexcept;

// Returns the number of elements, or nothing if it is too large to be counted.
std::optional<std::size_t> element_count(std::span<const std::size_t> shape) noexcept;

// Puts the tensors in order, and sets their places. Tensors with larger elements come first, so
// that each tensor is aligned to its elements. Then names decide. Throws Error kInvalidArgument if
// the tensors are too large to be counted, or one has a type without a name.
void lay_out(SafetensorsHeader& header);

// Returns the first bytes of a file: the length of the header, the header, and spaces. Requires
// that lay_out() has placed the tensors. Throws Error kInvalidArgument if a name or a text of the
// metadata is not UTF-8, if a name occurs twice or is "__metadata__", or if the header is too long.
std::string encode_header(const SafetensorsHeader& header);

struct ParsedHeader {
  SafetensorsHeader header;
  std::size_t data_begin = 0;  // The place of the data in the file, in bytes.
};

// Reads the header of a file of `file_bytes` bytes. `bytes` are the first bytes of the file, and
// must contain at least the header. `file` is the file's name in messages. Takes memory in
// proportion to the header, not to what the header claims. Throws Error kBadData.
ParsedHeader parse_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                          const std::string& file);

}  // namespace rota::formats
