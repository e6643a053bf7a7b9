// Defines the reductions, which make one value of the values of all ranks.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <rota/codec.h>
#include <rota/export.h>
#include <rota/values.h>

namespace rota {

// Integers wrap modulo 2^n. 16-bit floats are combined in float, and rounded to nearest even each
// time a rank has combined two of them. NaN and infinity behave as IEEE 754 says.
enum class ReduceOp : std::uint8_t {
  kSum,
  // The sum times 1 / world_size. That factor is rounded first: to double for float64, otherwise to
  // float. Not for integers. Of Float16 in a world of more than two ranks, a sum on the way could
  // overflow. So each rank first multiplies its values by f, the largest power of two up to
  // 1 / (world_size - 1), and the sum is multiplied by 1 / (world_size * f). This rounds values to
  // multiples of 2^-24 / f: with 64 ranks, 1e-5 becomes 1.14e-5, and 1e-6 becomes 0. Where values
  // are that small, take kSum.
  kMean,
  kProduct,
  kMin,  // NaN if any value is NaN; -0 is less than +0.
  kMax,
  kBitAnd,  // For integers only, like the next two.
  kBitOr,
  kBitXor,
};

// Returns the name of `op`: "sum", "mean", … "bit_xor"; otherwise "unknown".
ROTA_EXPORT std::string_view to_string(ReduceOp op) noexcept;

// A ReduceOp, or a sum of values that each rank first multiplies by a factor. A Reduction may name
// a codec.
class ROTA_EXPORT Reduction {
 public:
  constexpr Reduction(ReduceOp op) noexcept : op_(op) {}  // NOLINT: a ReduceOp is a Reduction.

  // Returns a reduction that gives the sum of factor * value. Each rank gives a factor of its own,
  // and multiplies its values by the factor before it sends anything. The factor is rounded to the
  // type in which values are computed: double for float64, otherwise float. Not for integers.
  static constexpr Reduction pre_scaled_sum(double factor) noexcept {
    Reduction reduction(ReduceOp::kSum);
    reduction.factor_ = factor;
    return reduction;
  }

  // Returns the same reduction with this codec, instead of CommunicatorOptions::codec. Only for
  // all-reduces of float32, in place or not, and only for sums and means.
  constexpr Reduction by(Codec codec) const noexcept {
    Reduction reduction(*this);
    reduction.codec_ = codec;
    return reduction;
  }

  // Returns the same reduction with other random numbers: stochastic rounding depends on `number`,
  // and not on the index of the call in its communicator. So a program that is interrupted and
  // resumed rounds in the same way, even if the index differs. With 0, rounding depends on the
  // index. Ranks need not give the same number. Codecs without randomness ignore the number.
  constexpr Reduction drawn_by(std::uint64_t number) const noexcept {
    Reduction reduction(*this);
    reduction.draw_ = number;
    return reduction;
  }

  constexpr ReduceOp op() const noexcept { return op_; }
  constexpr double factor() const noexcept { return factor_; }  // 1 if nothing is pre-scaled.
  constexpr std::optional<Codec> codec() const noexcept { return codec_; }
  constexpr std::uint64_t draw() const noexcept { return draw_; }  // 0: the index of the call.
  friend constexpr bool operator==(const Reduction&, const Reduction&) noexcept = default;

 private:
  ReduceOp op_;
  std::optional<Codec> codec_;
  double factor_ = 1;
  std::uint64_t draw_ = 0;
};

// Returns why values of this type cannot be reduced in this way: the part of a message that follows
// "all_reduce: ". Empty if they can be reduced.
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
    return "integers have no mean here, because it would be rounded; take the sum and divide it";
  }
  if (reduction.factor() != 1) {
    return "integers have no pre-scaled sum, because it would be rounded; scale them beforehand";
  }
  return {};
}

}  // namespace rota
