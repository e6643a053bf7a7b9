// Describes the memory of a collective: contiguous elements of one type, borrowed from the caller.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include <rota/device_span.h>
#include <rota/export.h>
#include <rota/float16.h>
#include <rota/memory_kind.h>
#include <rota/slice.h>

namespace rota {

enum class DataType : std::uint8_t {
  kByte,  // Can be moved, not reduced.
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kInt8,
  kUint8,
  kInt32,
  kInt64,
};

// Returns the name of `type`: "byte", "float16", … otherwise "unknown".
ROTA_EXPORT std::string_view to_string(DataType type) noexcept;

constexpr std::size_t bytes_of(DataType type) noexcept {
  switch (type) {
    case DataType::kByte:
    case DataType::kInt8:
    case DataType::kUint8:
      return 1;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return 2;
    case DataType::kFloat32:
    case DataType::kInt32:
      return 4;
    case DataType::kFloat64:
    case DataType::kInt64:
      break;
  }
  return 8;
}

constexpr bool is_float(DataType type) noexcept {
  return type == DataType::kFloat16 || type == DataType::kBfloat16 || type == DataType::kFloat32 ||
         type == DataType::kFloat64;
}

template <class T, class... Choices>
concept OneOf = (std::same_as<T, Choices> || ...);

template <class T>
concept Element = OneOf<T, std::byte, Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                        std::int32_t, std::int64_t>;

// An Element that may be const.
template <class T>
concept ReadElement = Element<std::remove_const_t<T>>;

template <Element T>
constexpr DataType data_type_of() noexcept {
  if (std::same_as<T, Float16>) return DataType::kFloat16;
  if (std::same_as<T, Bfloat16>) return DataType::kBfloat16;
  if (std::same_as<T, float>) return DataType::kFloat32;
  if (std::same_as<T, double>) return DataType::kFloat64;
  if (std::same_as<T, std::int8_t>) return DataType::kInt8;
  if (std::same_as<T, std::uint8_t>) return DataType::kUint8;
  if (std::same_as<T, std::int32_t>) return DataType::kInt32;
  if (std::same_as<T, std::int64_t>) return DataType::kInt64;
  return DataType::kByte;
}

// A contiguous range of Element. It may be a temporary that ends with the call.
template <class Range>
concept ElementRun = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    Element<std::ranges::range_value_t<Range>>;

// A range whose elements outlive the call. It is a named object, such as a std::vector or a
// std::array, or a view of other memory, such as a std::span.
template <class Range>
concept ElementRange = ElementRun<Range> && std::ranges::borrowed_range<Range>;

template <class Range>
concept MutableElementRange = ElementRange<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// A span whose element type is known at run time. A Values is made from an ElementRange or a
// DeviceSpan that is not const, and does not own its elements.
class ROTA_EXPORT Values {
 public:
  template <MutableElementRange Range>
  Values(Range&& range) noexcept  // NOLINT: implicit, as a span is.
      : data_(std::as_writable_bytes(std::span(range)).data()),
        count_(std::ranges::size(range)),
        type_(data_type_of<std::ranges::range_value_t<Range>>()) {}
  template <Element T>
  Values(DeviceSpan<T> span) noexcept  // NOLINT: implicit, as a span is.
      : data_(reinterpret_cast<std::byte*>(span.address())),
        count_(span.size()),
        type_(data_type_of<T>()),
        memory_(MemoryKind::of_device(span.device())),
        stream_(span.stream()) {}

  // If memory() is not the host's, the host must not read from the address.
  std::byte* data() const noexcept { return data_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return count_ * bytes_of(type_); }
  DataType type() const noexcept { return type_; }
  MemoryKind memory() const noexcept { return memory_; }
  // Returns the stream that the DeviceSpan came with, as a number, and 0 if it came with none.
  std::uintptr_t stream() const noexcept { return stream_.stream(); }

 private:
  std::byte* data_;
  std::size_t count_;
  DataType type_;
  MemoryKind memory_{};
  PackedStream stream_{};
};

// Like Values, for elements that are only read. A ConstValues is made from an ElementRange, a
// DeviceSpan or Values, and does not own its elements.
class ROTA_EXPORT ConstValues {
 public:
  template <ElementRange Range>
  ConstValues(Range&& range) noexcept  // NOLINT: implicit, as a span is.
      : data_(std::as_bytes(std::span(range)).data()),
        count_(std::ranges::size(range)),
        type_(data_type_of<std::ranges::range_value_t<Range>>()) {}
  template <ReadElement T>
  ConstValues(DeviceSpan<T> span) noexcept  // NOLINT: implicit, as a span is.
      : data_(reinterpret_cast<const std::byte*>(span.address())),
        count_(span.size()),
        type_(data_type_of<std::remove_const_t<T>>()),
        memory_(MemoryKind::of_device(span.device())),
        stream_(span.stream()) {}
  ConstValues(const Values& values) noexcept  // NOLINT: implicit, as a span's to const is.
      : data_(values.data()),
        count_(values.count()),
        type_(values.type()),
        memory_(values.memory()),
        stream_(values.stream()) {}
  // The compiler chooses this constructor for a temporary, and so prints the message below instead
  // of a list of candidates.
  template <ElementRun Range>
  ConstValues(Range&&) noexcept {  // NOLINT: never compiles, see below.
    constexpr bool kOutlivesTheCall = std::ranges::borrowed_range<Range>;
    static_assert(
        kOutlivesTheCall,
        "rota: these values are destroyed before they are used: keep them in a variable that "
        "outlives the call, or use the blocking form");
  }

  const std::byte* data() const noexcept { return data_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return count_ * bytes_of(type_); }
  DataType type() const noexcept { return type_; }
  MemoryKind memory() const noexcept { return memory_; }
  // Returns the stream that the DeviceSpan came with, as a number, and 0 if it came with none.
  std::uintptr_t stream() const noexcept { return stream_.stream(); }

 private:
  const std::byte* data_ = nullptr;
  std::size_t count_ = 0;
  DataType type_ = DataType::kByte;
  MemoryKind memory_{};
  PackedStream stream_{};
};

// The input of a blocking call. It may be a temporary as well: std::array{1.0F, 2.0F}. Use
// InputValues only as a function's argument: an InputValues that is kept may outlive its elements.
// Does not own its elements.
class ROTA_EXPORT InputValues : public ConstValues {
 public:
  template <ElementRun Range>
  InputValues(Range&& range) noexcept  // NOLINT: implicit, as ConstValues is.
      : ConstValues(std::span<const std::ranges::range_value_t<Range>>(std::ranges::data(range),
                                                                       std::ranges::size(range))) {}
  template <ReadElement T>
  InputValues(DeviceSpan<T> span) noexcept : ConstValues(span) {}           // NOLINT: implicit.
  InputValues(const ConstValues& values) noexcept : ConstValues(values) {}  // NOLINT: implicit.
  InputValues(const Values& values) noexcept : ConstValues(values) {}       // NOLINT: implicit.
};

}  // namespace rota
