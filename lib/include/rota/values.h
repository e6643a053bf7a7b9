// What a collective works on: elements of one type, side by side in memory, lent by the caller.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace rota {

enum class DataType : std::uint8_t {
  kByte,  // Can be moved, not reduced.
  kFloat32,
  kFloat64,
};

constexpr std::size_t bytes_of(DataType type) noexcept {
  return type == DataType::kByte ? 1 : type == DataType::kFloat32 ? 4 : 8;
}

template <class T>
concept Element = std::same_as<T, std::byte> || std::same_as<T, float> || std::same_as<T, double>;

template <Element T>
constexpr DataType data_type_of() noexcept {
  if (std::same_as<T, float>) return DataType::kFloat32;
  if (std::same_as<T, double>) return DataType::kFloat64;
  return DataType::kByte;
}

// A span whose element type is a value. Made from any contiguous range of Element: a std::vector,
// a std::array, a std::span. Does not own.
class Values {
 public:
  template <std::ranges::contiguous_range Range>
  requires Element<std::ranges::range_value_t<Range>> && std::ranges::sized_range<Range> &&
      (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>)
          Values(Range&& range) noexcept  // NOLINT: implicit, as a span is.
      : data_(std::as_writable_bytes(std::span(range)).data()),
        count_(std::ranges::size(range)),
        type_(data_type_of<std::ranges::range_value_t<Range>>()) {}

  std::byte* data() const noexcept { return data_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return count_ * bytes_of(type_); }
  DataType type() const noexcept { return type_; }

 private:
  std::byte* data_;
  std::size_t count_;
  DataType type_;
};

// A run of elements inside a larger one.
struct Slice {
  std::size_t offset = 0;
  std::size_t count = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// The share of `rank` when `count` elements are dealt out to `world_size` ranks in order: shares
// differ by one element at most, the longer ones first. Requires rank < world_size.
constexpr Slice slice_of(std::size_t count, std::size_t rank, std::size_t world_size) noexcept {
  const std::size_t share = count / world_size;
  const std::size_t longer = count % world_size;
  const std::size_t before = rank < longer ? rank : longer;
  return {rank * share + before, share + (rank < longer ? 1 : 0)};
}

}  // namespace rota
