// Lists all values that have a name in options and rows.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "collectives/work.h"

namespace rota::bench {

inline constexpr std::array kDataTypes = {
    DataType::kByte,    DataType::kFloat16, DataType::kBfloat16,
    DataType::kFloat32, DataType::kFloat64, DataType::kInt8,
    DataType::kUint8,   DataType::kInt32,   DataType::kInt64,
};
inline constexpr std::array kReduceOps = {
    ReduceOp::kSum, ReduceOp::kMean,   ReduceOp::kProduct, ReduceOp::kMin,
    ReduceOp::kMax, ReduceOp::kBitAnd, ReduceOp::kBitOr,   ReduceOp::kBitXor,
};
inline constexpr std::array kCodecs = {
    Codec::kIdentity, Codec::kBfloat16,       Codec::kFloat16,
    Codec::kInt8,     Codec::kInt8Stochastic, Codec::kTopK,
};
inline constexpr std::array kPlacements = {Placement::kOutOfPlace, Placement::kInPlace};
inline constexpr std::array kMemories = {Memory::kShared, Memory::kAny};
inline constexpr std::array kStates = {State::kWarm, State::kFresh};
inline constexpr std::array kCalls = {Calls::kIsolated, Calls::kBackToBack};

// Returns the value of `all` whose to_string is `name`; empty if there is none.
template <class Values>
auto value_named(const Values& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, [](auto value) { return to_string(value); });
  return found == std::ranges::end(all) ? std::nullopt : std::optional(*found);
}

}  // namespace rota::bench
