// The element types of the safetensors format. Without this table, a file with a type that rota
// does not have could not be read at all.
#pragma once
#include <cstddef>
#include <string_view>

#include <rota/values.h>

namespace rota::formats {

struct TensorType {
  std::string_view name;
  std::size_t bits;  // Of an element.
  DataType type;     // kByte if rota does not have the type.
};

inline constexpr TensorType kTensorTypes[] = {
    {"F32", 32, DataType::kFloat32},   {"F16", 16, DataType::kFloat16},
    {"BF16", 16, DataType::kBfloat16}, {"F64", 64, DataType::kFloat64},
    {"I8", 8, DataType::kInt8},        {"U8", 8, DataType::kUint8},
    {"I32", 32, DataType::kInt32},     {"I64", 64, DataType::kInt64},
    {"BOOL", 8, DataType::kByte},      {"I16", 16, DataType::kByte},
    {"U16", 16, DataType::kByte},      {"U32", 32, DataType::kByte},
    {"U64", 64, DataType::kByte},      {"C64", 64, DataType::kByte},
    {"F8_E4M3", 8, DataType::kByte},   {"F8_E5M2", 8, DataType::kByte},
    {"F8_E8M0", 8, DataType::kByte},   {"F6_E2M3", 6, DataType::kByte},
    {"F6_E3M2", 6, DataType::kByte},   {"F4", 4, DataType::kByte},
};

}  // namespace rota::formats
