// Owns memory of a device for values. First let rota use devices: call open_devices() of
// <rota/devices.h>, or use_devices() of <rota/cuda.h>, before you make a Communicator.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <rota/device_span.h>
#include <rota/export.h>

namespace rota {

// Owns contiguous bytes of a device, 256-byte aligned and zeroed. Move-only; may outlive every
// Communicator. If GPUs of several ranks use each other's memory (docs/guide/gpus.md), destroy it
// after the Communicator.
class ROTA_EXPORT DeviceBlock {
 public:
  // Takes back the bytes of a DeviceBlock when the DeviceBlock is destroyed. Never throws.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void release(DeviceSpan<std::byte> bytes) noexcept = 0;
  };

  DeviceBlock() = default;
  DeviceBlock(DeviceSpan<std::byte> bytes, std::shared_ptr<Owner> owner) noexcept
      : bytes_(bytes), owner_(std::move(owner)) {}
  DeviceBlock(DeviceBlock&& other) noexcept { *this = std::move(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock();

  DeviceSpan<std::byte> bytes() const noexcept { return bytes_; }
  // Returns the elements of type T that fit into the block.
  template <class T>
  DeviceSpan<T> as() const noexcept {
    return {reinterpret_cast<T*>(bytes_.address()), bytes_.size() / sizeof(T), bytes_.device()};
  }

 private:
  void reset() noexcept;

  DeviceSpan<std::byte> bytes_;
  std::shared_ptr<Owner> owner_;
};

// Returns zeroed memory of the device with this number. Throws Error kNoMemory if the device has no
// room; kInvalidArgument if no library for devices is in use, if there is no such device, or if
// another rank of the job uses it; kTimeout if the device does not do its part within 30 s; and
// kSystem if CUDA fails, or if the device cannot run rota's kernels.
ROTA_EXPORT DeviceBlock allocate_device(std::size_t bytes, std::uint8_t device = 0);

// Copy between the host and a device, and return when the bytes are there. They wait for no other
// stream, not even for that of the span (DeviceSpan::on): synchronize your stream first. Throw
// Error kInvalidArgument if the spans differ in size, and what allocate_device() throws.
ROTA_EXPORT void copy_from_device(std::span<std::byte> to, DeviceSpan<const std::byte> from);
ROTA_EXPORT void copy_to_device(DeviceSpan<std::byte> to, std::span<const std::byte> from);

// The type of the elements is that of the device's span. The host's may be made from a std::vector.
template <class T>
void copy_from_device(std::type_identity_t<std::span<std::remove_const_t<T>>> to,
                      DeviceSpan<T> from) {
  copy_from_device(std::as_writable_bytes(to), bytes_of(DeviceSpan<const T>(from)));
}
template <class T>
void copy_to_device(DeviceSpan<T> to, std::type_identity_t<std::span<const T>> from) {
  copy_to_device(bytes_of(to), std::as_bytes(from));
}

}  // namespace rota
