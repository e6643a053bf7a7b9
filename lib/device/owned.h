// Remembers which memory of devices rota has allocated. Its last owner gives it back, so rota can
// keep memory that it still needs longer than the program does.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rota/device_span.h>

namespace rota::device {

// Memory of a device.
class OwnedMemory : public std::enable_shared_from_this<OwnedMemory> {
 public:
  // Allocates it. Throws Error kNoMemory, kSystem; kInvalidArgument if there is no table of
  // functions.
  OwnedMemory(std::size_t bytes, std::uint8_t device);
  // Gives it back. Does nothing in a process that was forked too late to use devices.
  ~OwnedMemory();
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;

  DeviceSpan<std::byte> bytes() const noexcept { return bytes_; }

  // Says that the program does not use it any more: only rota still owns it. Any thread may ask.
  void give_up() noexcept { is_given_up_.store(true, std::memory_order_release); }
  bool is_given_up() const noexcept { return is_given_up_.load(std::memory_order_acquire); }

 private:
  DeviceSpan<std::byte> bytes_;
  std::atomic<bool> is_given_up_{false};
};

// Returns the memory that an address lies in. Returns null if rota has not allocated it, or if it
// has no owner any more. Any thread may call it.
std::shared_ptr<const OwnedMemory> find_owned(const void* address) noexcept;

// Keeps memory that nobody uses until the next give_back_kept(). To give memory back waits for the
// device, and the thread that moves collectives must not wait for it.
void keep_for_now(std::shared_ptr<const OwnedMemory> memory) noexcept;
// Gives back what is kept.
void give_back_kept() noexcept;

// Returns how often rota has given back memory of a device. Addresses of that memory may belong to
// other memory now.
std::uint64_t freed_count() noexcept;

}  // namespace rota::device
