// How the values of all ranks become one.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <rota/codec.h>
#include <rota/export.h>
#include <rota/values.h>

namespace rota {

// Integers wrap modulo 2^n. 16-bit floats are combined in float and rounded to nearest even once a
// hop. NaN and infinity go their way as IEEE 754 says.
enum class ReduceOp : std::uint8_t {
  kSum,
  kMean,  // The sum times 1 / world_size, which is rounded first: to double for float64, else to
          // float. Not of integers.
  kProduct,
  kMin,  // NaN where any value is; -0 is less than +0.
  kMax,
  kBitAnd,  // Of integers only, as are the next two.
  kBitOr,
  kBitXor,
};

// "sum", "mean", … "bit_xor"; "unknown"
ROTA_EXPORT std::string_view to_string(ReduceOp op) noexcept;

// A ReduceOp, or a sum of values that each rank first multiplies by a factor; and by which codec.
class ROTA_EXPORT Reduction {
 public:
  constexpr Reduction(ReduceOp op) noexcept : op_(op) {}  // NOLINT: implicit, for it is one.

  // The sum of factor * value. Each rank gives its own factor, which need not be that of the
  // others: it is applied before anything is sent. It is rounded to the type that the values are
  // computed in: double for float64, else float. Not of integers.
  static constexpr Reduction pre_scaled_sum(double factor) noexcept {
    Reduction reduction(ReduceOp::kSum);
    reduction.factor_ = factor;
    return reduction;
  }

  // The same by this codec, instead of what CommunicatorOptions::codec says. Of all-reduces of
  // float32 only, in place or not, and of sums and means.
  constexpr Reduction by(Codec codec) const noexcept {
    Reduction reduction(*this);
    reduction.codec_ = codec;
    return reduction;
  }

  constexpr ReduceOp op() const noexcept { return op_; }
  constexpr double factor() const noexcept { return factor_; }  // 1 where nothing is pre-scaled.
  constexpr std::optional<Codec> codec() const noexcept { return codec_; }
  friend constexpr bool operator==(const Reduction&, const Reduction&) noexcept = default;

 private:
  ReduceOp op_;
  std::optional<Codec> codec_;
  double factor_ = 1;
};

// Why values of this type cannot be reduced so, in words that follow "all_reduce: "; empty where
// they can.
constexpr std::string_view why_not(const Reduction& reduction, DataType type) noexcept {
  if (type == DataType::kByte) {
    return "bytes can be moved, not reduced; numbers of 8 bits are std::uint8_t or std::int8_t";
  }
  if (reduction.op() > ReduceOp::kBitXor) return "there is no such operation";
  const bool bitwise = reduction.op() == ReduceOp::kBitAnd || reduction.op() == ReduceOp::kBitOr ||
                       reduction.op() == ReduceOp::kBitXor;
  if (reduction.codec().value_or(Codec::kIdentity) != Codec::kIdentity) {
    if (type != DataType::kFloat32) return "codecs are for float32";
    if (reduction.op() > ReduceOp::kMean) return "codecs are for sums and means";
  }
  if (is_float(type)) {
    if (bitwise) return "bitwise operations are for integers, not for floating-point numbers";
    const double largest = type == DataType::kFloat64 ? std::numeric_limits<double>::max()
                                                      : std::numeric_limits<float>::max();
    if (!(reduction.factor() >= -largest && reduction.factor() <= largest)) {
      return "the factor of the pre-scaled sum is not finite in the type that it is computed in";
    }
    return {};
  }
  if (reduction.op() == ReduceOp::kMean) {
    return "integers have no mean here, for it would have to round; take the sum and divide it";
  }
  if (reduction.factor() != 1) {
    return "integers have no pre-scaled sum, for it would have to round; scale them beforehand";
  }
  return {};
}

}  // namespace rota
