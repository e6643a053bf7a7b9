// Writing and reading the fields of a message. Integers are little-endian and of fixed width.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rota::base {

// Without a length.
inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

class ByteWriter {
 public:
  // Makes room for so many bytes: up to that, what is written is written once.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  template <std::unsigned_integral T>
  void write(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
    }
  }
  void write(std::string_view text) {  // Length first.
    write(static_cast<std::uint32_t>(text.size()));
    append(bytes_of(text));
  }
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads what ByteWriter wrote. Never reads past the end: a field that is not wholly there reads as
// zero or empty, and ok() is false from then on.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <std::unsigned_integral T>
  T read() noexcept {
    if (!take(sizeof(T))) return 0;
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | (static_cast<T>(taken_[i]) << (8 * i)));
    }
    return value;
  }
  std::string read_text() {
    const auto bytes = read_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // A text where it lies.
  std::span<const std::byte> read_bytes() noexcept {
    return take(read<std::uint32_t>()) ? taken_ : std::span<const std::byte>();
  }

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  bool take(std::size_t count) noexcept {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return false;
    }
    taken_ = rest_.first(count);
    rest_ = rest_.subspan(count);
    return true;
  }

  std::span<const std::byte> rest_;
  std::span<const std::byte> taken_;
  bool ok_ = true;
};

}  // namespace rota::base
