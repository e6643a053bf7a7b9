// Maps a DataType to its C++ type.
#pragma once
#include <type_traits>

#include <rota/values.h>

namespace rota::bench {

// Calls `function` with std::type_identity<T>, where T is the element type of `type`.
template <class Function>
decltype(auto) with_type(DataType type, const Function& function) {
  switch (type) {
    case DataType::kFloat16:
      return function(std::type_identity<Float16>());
    case DataType::kBfloat16:
      return function(std::type_identity<Bfloat16>());
    case DataType::kFloat32:
      return function(std::type_identity<float>());
    case DataType::kFloat64:
      return function(std::type_identity<double>());
    case DataType::kInt8:
      return function(std::type_identity<std::int8_t>());
    case DataType::kUint8:
      return function(std::type_identity<std::uint8_t>());
    case DataType::kInt32:
      return function(std::type_identity<std::int32_t>());
    case DataType::kInt64:
      return function(std::type_identity<std::int64_t>());
    case DataType::kByte:
      break;
  }
  return function(std::type_identity<std::byte>());
}

}  // namespace rota::bench
