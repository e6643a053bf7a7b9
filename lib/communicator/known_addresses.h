// Remembers in which memory addresses are, so that a call that comes again need not ask CUDA.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <rota/values.h>

#include "device/owned.h"

namespace rota {

// A small table that forgets the oldest values of a row first. It forgets all if rota has freed
// memory of a device: other memory may have its addresses. It does not notice memory that the
// program has freed by CUDA's own functions.
class KnownAddresses {
 public:
  // Returns whether exactly these values were added. Values without elements are always known.
  bool knows(const ConstValues& values) const noexcept {
    if (values.count() == 0) return true;
    if (freed_ != device::freed_count()) return false;
    const auto& places = rows_[row_of(values)].places;
    return std::ranges::find(places, place_of(values)) != places.end();
  }
  void add(const ConstValues& values) noexcept {
    const std::uint64_t freed = device::freed_count();
    if (std::exchange(freed_, freed) != freed) rows_ = {};
    Row& row = rows_[row_of(values)];
    row.places[row.next++ % kPlaces] = place_of(values);
  }

 private:
  static constexpr int kRowBits = 4;
  static constexpr std::size_t kPlaces = 4;

  struct Place {
    const std::byte* address = nullptr;
    std::size_t bytes = 0;
    MemoryKind memory{};
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Row {
    std::array<Place, kPlaces> places{};
    std::size_t next = 0;
  };

  static Place place_of(const ConstValues& values) noexcept {
    return {values.data(), values.bytes(), values.memory()};
  }
  // Addresses of buckets are round, so their low bits say little.
  static std::size_t row_of(const ConstValues& values) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(values.data());
    return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15U >> (64 - kRowBits));
  }

  std::array<Row, std::size_t{1} << kRowBits> rows_{};
  std::uint64_t freed_ = 0;  // device::freed_count() when the table was empty.
};

}  // namespace rota
