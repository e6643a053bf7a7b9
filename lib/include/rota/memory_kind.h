// Says in which memory values lie: the memory of the host, or that of a device.
#pragma once
#include <cstdint>

#include <rota/export.h>

namespace rota {

// The memory of the host, or of one device of this process. A value of one byte, which fits beside
// the DataType of Values. Ranks need not agree on it: each rank says where its own values lie.
class ROTA_EXPORT MemoryKind {
 public:
  static constexpr std::uint8_t kMostDevices = 255;

  constexpr MemoryKind() noexcept = default;  // The host's.
  // Requires number < kMostDevices. The number is that of CUDA in this process, from 0 on.
  static constexpr MemoryKind of_device(std::uint8_t number) noexcept {
    MemoryKind kind;
    kind.code_ = static_cast<std::uint8_t>(number + 1);
    return kind;
  }

  constexpr bool is_host() const noexcept { return code_ == 0; }
  // Requires !is_host().
  constexpr std::uint8_t device() const noexcept { return static_cast<std::uint8_t>(code_ - 1); }
  // Returns 0 for the host, and otherwise the number of the device plus 1.
  constexpr std::uint8_t code() const noexcept { return code_; }

  friend constexpr bool operator==(MemoryKind, MemoryKind) noexcept = default;

 private:
  std::uint8_t code_ = 0;
};

}  // namespace rota
