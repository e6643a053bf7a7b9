// What a collective works on: elements of one type, side by side in memory, lent by the caller.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include <rota/export.h>
#include <rota/float16.h>

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

// "byte", "float16", … "unknown"
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

// A contiguous range of Element, which may end with the call.
template <class Range>
concept ElementRun = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    Element<std::ranges::range_value_t<Range>>;

// One that is there after the call as well: it has a name, such as a std::vector or a std::array,
// or is a view of what lies elsewhere, such as a std::span.
template <class Range>
concept ElementRange = ElementRun<Range> && std::ranges::borrowed_range<Range>;

template <class Range>
concept MutableElementRange = ElementRange<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// A span whose element type is a value. Made from an ElementRange that is not const. Does not own.
class ROTA_EXPORT Values {
 public:
  template <MutableElementRange Range>
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

// The same for what is only read: made from an ElementRange, and from Values. Does not own.
class ROTA_EXPORT ConstValues {
 public:
  template <ElementRange Range>
  ConstValues(Range&& range) noexcept  // NOLINT: implicit, as a span is.
      : data_(std::as_bytes(std::span(range)).data()),
        count_(std::ranges::size(range)),
        type_(data_type_of<std::ranges::range_value_t<Range>>()) {}
  ConstValues(const Values& values) noexcept  // NOLINT: implicit, as a span's to const is.
      : data_(values.data()), count_(values.count()), type_(values.type()) {}
  // Chosen for a temporary, so that the compiler says this, and not which candidates there are.
  template <ElementRun Range>
  ConstValues(Range&&) noexcept {  // NOLINT: never made, as it says.
    constexpr bool kOutlivesTheCall = std::ranges::borrowed_range<Range>;
    static_assert(kOutlivesTheCall,
                  "rota: these values end before they are used: give them a name that outlives "
                  "the call, or use the form that blocks");
  }

  const std::byte* data() const noexcept { return data_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return count_ * bytes_of(type_); }
  DataType type() const noexcept { return type_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t count_ = 0;
  DataType type_ = DataType::kByte;
};

// What a call that blocks only reads, which may be a temporary as well: std::array{1.0F, 2.0F}. For
// parameters: one that is kept may outlive its values. Does not own.
class ROTA_EXPORT InputValues : public ConstValues {
 public:
  template <ElementRun Range>
  InputValues(Range&& range) noexcept  // NOLINT: implicit, as ConstValues is.
      : ConstValues(std::span<const std::ranges::range_value_t<Range>>(std::ranges::data(range),
                                                                       std::ranges::size(range))) {}
  InputValues(const ConstValues& values) noexcept : ConstValues(values) {}  // NOLINT: implicit.
  InputValues(const Values& values) noexcept : ConstValues(values) {}       // NOLINT: implicit.
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

// Chunks begin at multiples of so many elements, which keeps two ranks from writing one cache line.
inline constexpr std::size_t kChunkGrain = 16;

// Where a chunk of an all-reduce of `count` elements lies, which says in what order its terms are
// added: see docs/reproducibility.md. There are as many as ranks, and some may be empty: as
// slice_of, but grains are dealt out, the last perhaps shorter. Requires chunk < world_size.
constexpr Slice chunk_of(std::size_t count, std::size_t chunk, std::size_t world_size) noexcept {
  const std::size_t grains = count / kChunkGrain + (count % kChunkGrain == 0 ? 0 : 1);
  const Slice dealt = slice_of(grains, chunk, world_size);
  const std::size_t begin = dealt.offset < grains ? dealt.offset * kChunkGrain : count;
  const std::size_t last = dealt.offset + dealt.count;
  return {begin, (last < grains ? last * kChunkGrain : count) - begin};
}

}  // namespace rota
