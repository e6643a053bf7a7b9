// Writes whole safetensors files, and reads them in place.
#include <rota/safetensors.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <rota/error.h>
#include <rota/nearest_name.h>

#include "base/byte_stream.h"
#include "formats/replacing_file.h"
#include "formats/safetensors.h"
#include "os/mapped_file.h"
#include "os/system_error.h"

namespace rota {
namespace {

template <Element T>
ConstValues elements(std::span<const std::byte> bytes) noexcept {
  return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
}

ConstValues values_of(DataType type, std::span<const std::byte> bytes) noexcept {
  switch (type) {
    case DataType::kFloat16:
      return elements<Float16>(bytes);
    case DataType::kBfloat16:
      return elements<Bfloat16>(bytes);
    case DataType::kFloat32:
      return elements<float>(bytes);
    case DataType::kFloat64:
      return elements<double>(bytes);
    case DataType::kInt8:
      return elements<std::int8_t>(bytes);
    case DataType::kUint8:
      return elements<std::uint8_t>(bytes);
    case DataType::kInt32:
      return elements<std::int32_t>(bytes);
    case DataType::kInt64:
      return elements<std::int64_t>(bytes);
    case DataType::kByte:
      break;
  }
  return elements<std::byte>(bytes);
}

formats::TensorEntry entry_of(const NamedTensor& tensor) {
  const auto count = formats::element_count(tensor.shape);
  if (count != tensor.values.count()) {
    throw Error(ErrorCode::kInvalidArgument,
                "tensor " + formats::shown_name(tensor.name) + " has " +
                    std::to_string(tensor.values.count()) + " values, but its shape needs " +
                    (count ? std::to_string(*count) : "more than can be counted"));
  }
  formats::TensorEntry entry;
  entry.name = tensor.name;
  entry.type = tensor.values.type();
  entry.shape = tensor.shape;
  return entry;
}

// A copy of a tensor's bytes. The copy is aligned for every type, even if the bytes in the file are
// not.
using AlignedCopy = std::vector<std::uint64_t>;

AlignedCopy aligned_copy(std::span<const std::byte> bytes, const std::string& what) {
  try {
    AlignedCopy copy((bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(copy)).begin());
    return copy;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kNoMemory,
                what + ": no memory to copy its " + std::to_string(bytes.size()) +
                    " bytes, which the file does not align" + os::advice_on_memory());
  }
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const TensorMetadata& metadata) {
  formats::SafetensorsHeader header;
  header.metadata = metadata;
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : tensors) {
    header.tensors.push_back(entry_of(tensor));
    by_name[tensor.name] = &tensor;
  }
  formats::lay_out(header);
  const std::string head = formats::encode_header(header);
  formats::ReplacingFile file(path);
  file.append(base::bytes_of(head));
  for (const formats::TensorEntry& entry : header.tensors) {
    const ConstValues& values = by_name.at(entry.name)->values;
    file.append({values.data(), values.bytes()});
  }
  file.commit();
}

struct SafetensorsFile::State {
  explicit State(const std::filesystem::path& given)
      : path(given), file(formats::resolved(given)) {}

  std::filesystem::path path;
  os::MappedFile file;
  TensorMetadata metadata;
  std::vector<NamedTensor> tensors;
  std::map<std::string_view, std::size_t> by_name;  // Index in tensors.
  std::vector<AlignedCopy> copies;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : state_(std::make_unique<State>(path)) {
  State& state = *state_;
  const std::span<const std::byte> bytes = state.file.map();
  auto [header, data_begin] = formats::parse_header(bytes, bytes.size(), path.string());
  state.metadata = std::move(header.metadata);
  state.tensors.reserve(header.tensors.size());
  for (formats::TensorEntry& entry : header.tensors) {
    std::span<const std::byte> data =
        bytes.subspan(data_begin + entry.begin, entry.end - entry.begin);
    if ((data_begin + entry.begin) % bytes_of(entry.type) != 0) {
      const std::string what = path.string() + ": tensor " + formats::shown_name(entry.name);
      state.copies.push_back(aligned_copy(data, what));
      data = std::as_bytes(std::span(state.copies.back())).first(data.size());
    }
    state.tensors.push_back({.name = std::move(entry.name),
                             .shape = std::move(entry.shape),
                             .values = values_of(entry.type, data),
                             .type_name = std::string(entry.type_name)});
    state.by_name[state.tensors.back().name] = state.tensors.size() - 1;
  }
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

const std::filesystem::path& SafetensorsFile::path() const noexcept { return state_->path; }

const TensorMetadata& SafetensorsFile::metadata() const noexcept { return state_->metadata; }

std::span<const NamedTensor> SafetensorsFile::tensors() const noexcept { return state_->tensors; }

const NamedTensor* SafetensorsFile::find(std::string_view name) const noexcept {
  const auto found = state_->by_name.find(name);
  return found == state_->by_name.end() ? nullptr : &state_->tensors[found->second];
}

const NamedTensor& SafetensorsFile::tensor(std::string_view name) const {
  if (const NamedTensor* found = find(name)) return *found;
  std::vector<std::string_view> names;
  for (const NamedTensor& tensor : tensors()) {
    // A file may have very long names, and the time of a comparison grows with their length.
    if (tensor.name.size() <= 2 * name.size() + 8) names.emplace_back(tensor.name);
  }
  const std::string_view nearest = nearest_name(name, names);
  throw Error(
      ErrorCode::kInvalidArgument,
      state_->path.string() + ": has no tensor " + formats::shown_name(name) +
          (nearest.empty() ? "" : "; the most similar name is " + formats::shown_name(nearest)));
}

}  // namespace rota
