// Writes and reads safetensors files for judge_safetensors.py.
//
//   judged_safetensors write FILE      writes a tensor of each type, with metadata
//   judged_safetensors read FILE       prints what SafetensorsFile reads, as JSON
//   judged_safetensors judge           for each file on stdin (eight bytes of length, then the
//                                      file), prints a line of JSON: the tensors, or the refusal
#include <rota/error.h>
#include <rota/safetensors.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "formats/safetensors.h"

namespace {

using nlohmann::json;
using namespace rota;

// Returns `count` elements of type T. Their bytes are 0, 1, 2, ….
template <Element T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  unsigned next = 0;
  for (std::byte& byte : std::as_writable_bytes(std::span(values))) {
    byte = static_cast<std::byte>(next++ % 251);
  }
  return values;
}

void write(const char* path) {
  const auto f16 = counted<Float16>(6);
  const auto bf16 = counted<Bfloat16>(3);
  const auto f32 = counted<float>(24);
  const auto f64 = counted<double>(1);
  const auto i8 = counted<std::int8_t>(7);
  const auto u8 = counted<std::uint8_t>(5);
  const auto i32 = counted<std::int32_t>(4);
  const auto i64 = counted<std::int64_t>(2);
  const std::vector<float> none;
  write_safetensors(path,
                    std::vector<NamedTensor>{{"F16", {2, 3}, f16},
                                             {"BF16", {3, 1}, bf16},
                                             {"F32", {2, 3, 4}, f32},
                                             {"F64", {}, f64},
                                             {"I8", {7}, i8},
                                             {"U8", {5}, u8},
                                             {"I32", {4}, i32},
                                             {"I64", {2}, i64},
                                             {"none", {0, 3}, none},
                                             {"\"\\\n\u4e16/ß", {4}, i32}},
                    {{"format", "pt"}, {"\"\n", "ß"}});
}

json tensor_json(const std::string& type, const std::vector<std::size_t>& shape) {
  return {{"dtype", type}, {"shape", shape}};
}

void read(const char* path) {
  const SafetensorsFile file(path);
  json tensors = json::object();
  for (const NamedTensor& tensor : file.tensors()) {
    tensors[tensor.name] = tensor_json(tensor.type_name, tensor.shape);
    tensors[tensor.name]["data"] = base::to_hex({tensor.values.data(), tensor.values.bytes()});
  }
  std::cout << json{{"tensors", tensors}, {"metadata", file.metadata()}} << '\n';
}

std::string verdict(std::span<const std::byte> file) {
  try {
    const auto header = formats::parse_header(file, file.size(), "file").header;
    json tensors = json::object();
    for (const formats::TensorEntry& tensor : header.tensors) {
      tensors[tensor.name] = tensor_json(std::string(tensor.type_name), tensor.shape);
      tensors[tensor.name]["bytes"] = tensor.end - tensor.begin;
    }
    return json{{"tensors", tensors}}.dump();
  } catch (const Error& error) {
    return json{{"refused", error.what()}}.dump();
  }
}

void judge() {
  std::array<char, 8> length_bytes{};
  while (std::cin.read(length_bytes.data(), length_bytes.size())) {
    std::uint64_t length = 0;
    std::memcpy(&length, length_bytes.data(), sizeof(length));
    std::string file(length, '\0');
    std::cin.read(file.data(), static_cast<std::streamsize>(length));
    std::cout << verdict(std::as_bytes(std::span(file))) << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "write" && argc == 3) {
    write(argv[2]);
  } else if (what == "read" && argc == 3) {
    read(argv[2]);
  } else if (what == "judge") {
    judge();
  } else {
    return 2;
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
