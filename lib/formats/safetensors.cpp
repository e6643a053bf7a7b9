// Writes and reads the header of a safetensors file.
#include "formats/safetensors.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "formats/header_reader.h"
#include "formats/tensor_types.h"

namespace rota::formats {
namespace {

const TensorType& row_named(std::string_view name) noexcept {
  return *std::ranges::find(kTensorTypes, name, &TensorType::name);
}

[[noreturn]] void refuse_argument(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "a safetensors file cannot be written: " + why);
}

// Returns `text` as JSON, in quotes.
std::string quoted(const std::string& what, const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    refuse_argument(what + " " + shown_name(text) + " is not UTF-8");
  }
}

std::string to_json(const TensorEntry& tensor) {
  std::string shape;
  for (const std::size_t dimension : tensor.shape) {
    shape += (shape.empty() ? "" : ",") + std::to_string(dimension);
  }
  return R"({"dtype":")" + std::string(type_name_of(tensor.type)) + R"(","shape":[)" + shape +
         R"(],"data_offsets":[)" + std::to_string(tensor.begin) + "," + std::to_string(tensor.end) +
         "]}";
}

// Returns the number of bytes of a tensor, or nothing if its bits are too many to be counted, or
// are not whole bytes.
std::optional<std::size_t> tensor_bytes(const TensorEntry& tensor, std::size_t element_bits) {
  const std::optional<std::size_t> count = element_count(tensor.shape);
  std::size_t bits = 0;
  if (!count || __builtin_mul_overflow(*count, element_bits, &bits)) return std::nullopt;
  if (bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

void check_names(const std::string& file, const std::vector<TensorEntry>& tensors) {
  std::set<std::string_view> names;
  for (const TensorEntry& tensor : tensors) {
    if (names.insert(tensor.name).second) continue;
    throw Error(ErrorCode::kBadData,
                file + ": its header has tensor " + shown_name(tensor.name) + " twice");
  }
}

// Checks that each tensor begins where the tensor before it ends, and has as many bytes as its
// shape needs.
void check_places(const std::string& file, const std::vector<TensorEntry>& tensors) {
  std::size_t expected = 0;
  for (const TensorEntry& tensor : tensors) {
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::kBadData, file + ": tensor " + shown_name(tensor.name) + " " + why);
    };
    if (tensor.begin != expected) {
      refuse("begins at byte " + std::to_string(tensor.begin) + " of the data, expected " +
             std::to_string(expected) + ", where the tensor before it ends");
    }
    if (tensor.end < tensor.begin) {
      refuse("ends at byte " + std::to_string(tensor.end) + " of the data, before its begin at " +
             std::to_string(tensor.begin));
    }
    const auto bytes = tensor_bytes(tensor, row_named(tensor.type_name).bits);
    if (!bytes) refuse("has a shape whose bytes cannot be counted");
    if (*bytes != tensor.end - tensor.begin) {
      refuse("has " + std::to_string(tensor.end - tensor.begin) + " bytes, but its shape needs " +
             std::to_string(*bytes));
    }
    expected = tensor.end;
  }
}

// Checks the length of the header, and returns its JSON.
std::string_view header_text(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                             const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadData, file + ": " + why);
  };
  if (file_bytes < kHeaderLengthBytes || bytes.size() < kHeaderLengthBytes) {
    refuse("has " + std::to_string(file_bytes) +
           " bytes, fewer than the 8 that a safetensors file begins with");
  }
  const auto length = base::ByteReader(bytes.first(kHeaderLengthBytes)).read<std::uint64_t>();
  if (length > kMaxHeaderBytes) {
    refuse("begins with " + std::to_string(length) + " as the length of its header, expected " +
           std::to_string(kMaxHeaderBytes) + " at most: it is not a safetensors file");
  }
  if (length > file_bytes - kHeaderLengthBytes) {
    refuse("ends within its header: it has " + std::to_string(file_bytes) +
           " bytes, and the header alone needs " + std::to_string(length + kHeaderLengthBytes));
  }
  const auto text = bytes.subspan(kHeaderLengthBytes).first(static_cast<std::size_t>(length));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace

std::string_view type_name_of(DataType type) noexcept {
  if (type == DataType::kByte) return {};
  return std::ranges::find(kTensorTypes, type, &TensorType::type)->name;
}

std::optional<std::size_t> element_count(std::span<const std::size_t> shape) noexcept {
  std::size_t count = 1;
  for (const std::size_t dimension : shape) {
    if (__builtin_mul_overflow(count, dimension, &count)) return std::nullopt;
  }
  return count;
}

void lay_out(SafetensorsHeader& header) {
  std::ranges::sort(header.tensors, [](const TensorEntry& left, const TensorEntry& right) {
    const auto order = [](const TensorEntry& tensor) {
      return std::tuple(8 - bytes_of(tensor.type), std::string_view(tensor.name));
    };
    return order(left) < order(right);
  });
  std::size_t begin = 0;
  for (TensorEntry& tensor : header.tensors) {
    tensor.type_name = type_name_of(tensor.type);
    if (tensor.type_name.empty()) {
      refuse_argument("tensor " + shown_name(tensor.name) +
                      " has elements of type byte, which the format lacks: use uint8");
    }
    const auto bytes = tensor_bytes(tensor, bytes_of(tensor.type) * 8);
    tensor.begin = begin;
    if (!bytes || __builtin_add_overflow(begin, *bytes, &tensor.end)) {
      refuse_argument("tensor " + shown_name(tensor.name) + " is too large to be counted");
    }
    begin = tensor.end;
  }
}

std::string encode_header(const SafetensorsHeader& header) {
  std::string json = "{";
  if (!header.metadata.empty()) {
    std::string members;
    for (const auto& [key, text] : header.metadata) {
      members += (members.empty() ? "" : ",") + quoted("the metadata's key", key) + ":" +
                 quoted("the metadata's text", text);
    }
    json += "\"__metadata__\":{" + members + "}";
  }
  std::set<std::string_view> names;
  for (const TensorEntry& tensor : header.tensors) {
    const bool is_new = names.insert(tensor.name).second;
    if (!is_new) refuse_argument("two tensors have the name " + shown_name(tensor.name));
    if (tensor.name == "__metadata__") refuse_argument("no tensor may have the name __metadata__");
    json += (json.size() > 1 ? "," : "") + quoted("the name", tensor.name) + ":" + to_json(tensor);
  }
  json += "}";
  const std::size_t past = (kHeaderLengthBytes + json.size()) % kDataAlignment;
  if (past != 0) json.append(kDataAlignment - past, ' ');
  if (json.size() > kMaxHeaderBytes) {
    refuse_argument("its header would have " + std::to_string(json.size()) +
                    " bytes; the format allows " + std::to_string(kMaxHeaderBytes));
  }
  base::ByteWriter length;
  length.write(static_cast<std::uint64_t>(json.size()));
  const std::vector<std::byte> bytes = length.take();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) + json;
}

ParsedHeader parse_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                          const std::string& file) {
  const std::string_view text = header_text(bytes, file_bytes, file);
  // The JSON parser would skip a byte order mark, and would stop at a zero as if it were the end.
  if (!text.starts_with('{') || text.find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::kBadData,
                file +
                    ": its header is not JSON that begins with '{': it is not a safetensors "
                    "file, or is damaged");
  }
  HeaderReader reader(file);
  nlohmann::json::sax_parse(text, &reader);
  ParsedHeader parsed;
  parsed.header = reader.take();
  parsed.data_begin = kHeaderLengthBytes + text.size();
  std::vector<TensorEntry>& tensors = parsed.header.tensors;
  check_names(file, tensors);
  std::ranges::sort(tensors, {}, [](const TensorEntry& tensor) {
    return std::tuple(tensor.begin, tensor.end, std::string_view(tensor.name));
  });
  check_places(file, tensors);
  const std::uint64_t data_bytes = file_bytes - parsed.data_begin;
  if (parsed.header.data_bytes() != data_bytes) {
    throw Error(ErrorCode::kBadData, file + ": has " + std::to_string(data_bytes) +
                                         " bytes of tensors, but its header " + "announces " +
                                         std::to_string(parsed.header.data_bytes()) +
                                         ": it was cut off, or something was added");
  }
  return parsed;
}

}  // namespace rota::formats
