// Describes contiguous elements in the memory of a device, so that no host code can read them by
// mistake.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <rota/export.h>
#include <rota/memory_kind.h>

namespace rota {

// Returns the number of a cudaStream_t; null is CUDA's default stream. No stream has the number 0.
inline std::uintptr_t to_stream_number(const void* stream) noexcept {
  constexpr std::uintptr_t kDefaultStream = 1;  // cudaStreamLegacy, the other name of stream 0.
  return stream ? reinterpret_cast<std::uintptr_t>(stream) : kDefaultStream;
}

// Like std::span, for elements in the memory of a device. Does not own its elements. It is no range
// and has no operator[]: host code that reads an element does not compile. Values and ConstValues
// are made from it, so a collective takes it in place of host memory. on() adds a stream.
template <class T>
class ROTA_EXPORT DeviceSpan {
 public:
  using element_type = T;  // NOLINT: the standard library's name.

  constexpr DeviceSpan() noexcept = default;
  // `address` is an address of the device with this number. It may be null if `count` is 0.
  // Requires device < MemoryKind::kMostDevices.
  constexpr DeviceSpan(T* address, std::size_t count, std::uint8_t device) noexcept
      : address_(address), count_(count), device_(device) {}

  // Returns the address, for kernels and for functions of CUDA. The host must not read from it.
  constexpr T* address() const noexcept { return address_; }
  constexpr std::size_t size() const noexcept { return count_; }
  constexpr std::uint8_t device() const noexcept { return device_; }

  // Returns the same elements with a stream of the program. `stream` is a cudaStream_t of the
  // elements' device; null is CUDA's default stream. A collective that is called with the result
  // uses the elements only when all work is done that was on the stream at the time of the call.
  // The host does not wait for that. Several buffers of one call may have different streams.
  DeviceSpan on(const void* stream) const noexcept {
    DeviceSpan same = *this;
    same.stream_ = to_stream_number(stream);
    return same;
  }
  // Returns the stream as a number, and 0 if there is none.
  constexpr std::uintptr_t stream() const noexcept { return stream_; }

  // Requires count <= size().
  constexpr DeviceSpan first(std::size_t count) const noexcept { return subspan(0, count); }
  // Requires offset <= size() and, if `count` is given, offset + count <= size(). Without `count`,
  // takes all elements from `offset` on.
  constexpr DeviceSpan subspan(std::size_t offset,
                               std::size_t count = std::dynamic_extent) const noexcept {
    DeviceSpan part = *this;
    part.address_ += offset;
    part.count_ = count == std::dynamic_extent ? count_ - offset : count;
    return part;
  }

  // A template, since a DeviceSpan of constant elements has no use for it.
  template <class U>
  requires std::is_same_v<U, const T>
  constexpr operator DeviceSpan<U>() const noexcept {  // NOLINT: implicit, as a span's is.
    return cast<U>();
  }

  // Returns the same memory as elements of another type, of which as many as fit.
  template <class U>
  DeviceSpan<U> cast() const noexcept {
    DeviceSpan<U> same(reinterpret_cast<U*>(address_), count_ * sizeof(T) / sizeof(U), device_);
    same.stream_ = stream_;
    return same;
  }

 private:
  template <class U>
  friend class DeviceSpan;

  T* address_ = nullptr;
  std::size_t count_ = 0;
  std::uintptr_t stream_ = 0;
  std::uint8_t device_ = 0;
};

// Return the bytes of the elements, with the same stream.
template <class T>
DeviceSpan<std::byte> bytes_of(DeviceSpan<T> span) noexcept {
  return span.template cast<std::byte>();
}
template <class T>
DeviceSpan<const std::byte> bytes_of(DeviceSpan<const T> span) noexcept {
  return span.template cast<const std::byte>();
}

// A stream as a number in six bytes, which fit beside the DataType of Values. No address of a Linux
// program takes more. 0: no stream.
class ROTA_EXPORT PackedStream {
 public:
  constexpr PackedStream() noexcept = default;
  constexpr explicit PackedStream(std::uint64_t stream) noexcept
      : parts_{static_cast<std::uint16_t>(stream), static_cast<std::uint16_t>(stream >> 16),
               static_cast<std::uint16_t>(stream >> 32)} {}
  constexpr std::uintptr_t stream() const noexcept {
    return static_cast<std::uintptr_t>(parts_[0] | std::uint64_t{parts_[1]} << 16 |
                                       std::uint64_t{parts_[2]} << 32);
  }

 private:
  std::array<std::uint16_t, 3> parts_{};
};

}  // namespace rota
