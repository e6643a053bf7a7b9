// Copies batches to a device: pixels as bytes, which become floats there.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <rota/device_memory.h>
#include <rota/memory.h>
#include <rota/model.h>

#include "device/stream.h"
#include "nn/device_math.h"

namespace rota::nn {

// A batch goes through one of two pinned blocks, so that the host can fill one of them while the
// device still copies from the other.
class BatchUpload {
 public:
  BatchUpload(DeviceWork& work, std::size_t input_count);

  // No work may use batches of earlier calls.
  void reserve(std::size_t samples);

  // Addresses of the device, valid for the work that is put on the stream until the next call.
  struct Copied {
    const float* inputs;
    const std::uint8_t* labels;                 // Meaningless if the batch has none.
    const std::uint8_t* pixels;                 // Null if the batch has none.
    std::span<const std::uint64_t> identities;  // Empty if the batch has none.
  };
  // Copies samples of the batch, from `first` on. Requires room for `count`.
  Copied copy(const Batch<float>& batch, std::size_t first, std::size_t count);
  // Fills the inputs of `count` samples, if they are still pixels.
  void widen(const Copied& copied, std::size_t count);

 private:
  // Where the parts of a batch are, in bytes from its beginning.
  struct Layout {
    std::size_t identities;
    std::size_t inputs;
    std::size_t labels;
    std::size_t bytes;
  };
  Layout layout_of(const Batch<float>& batch, std::size_t count) const noexcept;

  struct Slot {
    explicit Slot(std::uint8_t device) : copied(device) {}
    Block pinned;
    device::Event copied;
  };

  DeviceWork& work_;
  std::size_t input_count_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;  // Index of a slot.
  DeviceBlock batch_;
  DeviceBuffer inputs_;  // Pixels that have become floats.
};

}  // namespace rota::nn
