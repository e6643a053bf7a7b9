// What the metadata of a checkpoint's safetensors file says: which rows of a cut tensor the file
// has, and the facts and counters of a rank.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/tensor.h"

namespace rota::checkpoint {

// A key is one of these prefixes, followed by the name of a tensor, a fact or a counter.
inline const std::string kRowsOf = "rows/";
inline const std::string kFactOf = "fact/";
inline const std::string kCounterOf = "counter/";

// safetensors has no type for bytes without a meaning: they are stored as kUint8.
constexpr DataType stored_type(DataType type) noexcept {
  return type == DataType::kByte ? DataType::kUint8 : type;
}

// Returns "0..195 of 784": the first row, the last row, and the number of rows of the whole tensor.
// Requires that there are rows.
std::string to_text(const Rows& rows, std::size_t all);

// Returns nothing unless to_text() gives exactly this text for a tensor of `all` rows.
std::optional<Rows> rows_from(std::string_view text, std::size_t all);

}  // namespace rota::checkpoint
