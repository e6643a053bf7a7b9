// Writes and reads the fields of a message. Integers are little-endian and of fixed width.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rota::base {

// Returns the bytes of the text, without a length field.
inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

// Returns the bytes as a text.
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ByteWriter {
 public:
  // Reserves memory for `bytes` bytes in total, so that further writes do not move earlier bytes.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  template <std::unsigned_integral T>
  void write(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
    }
  }
  void write(std::string_view text) {  // Writes the length first.
    write(static_cast<std::uint32_t>(text.size()));
    append(bytes_of(text));
  }
  void write(std::span<const std::uint32_t> numbers) {  // Writes their count first.
    write(static_cast<std::uint32_t>(numbers.size()));
    for (const std::uint32_t number : numbers) write(number);
  }
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }
  std::string take_text() { return text_of(take()); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads the output of ByteWriter. Never reads past the end: an incomplete field reads as zero or
// empty, and ok() is false from then on.
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
  std::string read_text() { return text_of(read_bytes()); }
  std::vector<std::uint32_t> read_numbers() {
    std::vector<std::uint32_t> numbers;
    const auto count = read<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && ok_; ++i) numbers.push_back(read<std::uint32_t>());
    return numbers;
  }
  // Reads a field of text. Returns a view of the field's bytes in the input, not a copy.
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
