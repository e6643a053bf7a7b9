// Gives types, operations and codecs the names that every message to users uses.
#include <rota/codec.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

#include <algorithm>
#include <iterator>

namespace rota {

std::string_view to_string(DataType type) noexcept {
  switch (type) {
    case DataType::kByte:
      return "byte";
    case DataType::kFloat16:
      return "float16";
    case DataType::kBfloat16:
      return "bfloat16";
    case DataType::kFloat32:
      return "float32";
    case DataType::kFloat64:
      return "float64";
    case DataType::kInt8:
      return "int8";
    case DataType::kUint8:
      return "uint8";
    case DataType::kInt32:
      return "int32";
    case DataType::kInt64:
      return "int64";
  }
  return "unknown";
}

std::string_view to_string(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMean:
      return "mean";
    case ReduceOp::kProduct:
      return "product";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kBitAnd:
      return "bit_and";
    case ReduceOp::kBitOr:
      return "bit_or";
    case ReduceOp::kBitXor:
      return "bit_xor";
  }
  return "unknown";
}

namespace {

constexpr std::string_view kCodecNames[] = {"identity",        "bf16", "fp16", "int8",
                                            "int8-stochastic", "top-k"};

}  // namespace

std::string_view to_string(Codec codec) noexcept {
  const auto index = static_cast<std::size_t>(codec);
  return index < std::size(kCodecNames) ? kCodecNames[index] : "unknown";
}

std::optional<Codec> codec_named(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kCodecNames, name);
  if (found == std::end(kCodecNames)) return std::nullopt;
  return static_cast<Codec>(found - std::begin(kCodecNames));
}

}  // namespace rota
