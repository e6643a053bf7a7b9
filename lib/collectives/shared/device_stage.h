// The memory through which values on a device take part in collectives over shared memory. It lies
// in this rank's arena, so peers read and write it in place. If it is pinned (pinned_stage.h),
// devices copy from and to it while the host goes on.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/memory.h>

#include "collectives/running.h"
#include "collectives/shared/flags_page.h"
#include "device/arrivals.h"
#include "device/worker.h"

namespace rota::collectives {

// One copy at a time may be under way. Never waits, except in is_idle().
class DeviceStage {
 public:
  // `flags` must outlive the object, but not what it has allocated.
  explicit DeviceStage(Flags& flags) noexcept : flags_(flags) {}
  DeviceStage(const DeviceStage&) = delete;
  DeviceStage& operator=(const DeviceStage&) = delete;

  // Makes the pinned memory through which pieces are copied if the other memory is not pinned.
  // The thread that calls the collectives calls this before it queues an operation: see
  // PinnedStage. Throws Error kNoMemory, kSystem.
  void make_pieces();

  // Makes room for `bytes` bytes, whose values are on this device. `pinned`: memory of this rank's
  // arena for so many bytes, until the operation is done. If it is null, the room is in memory that
  // is not pinned. Copies begin after `arrivals`, which may be null. Requires make_pieces(). Throws
  // Error kNoMemory, kSystem.
  void prepare(std::uint8_t device, std::size_t bytes, std::byte* pinned,
               const device::Arrivals* arrivals);
  // Returns the memory. Its address changes only in prepare().
  std::byte* data() const noexcept { return data_; }

  // Begins to copy values of the device into the memory, or back. Throws Error kSystem.
  void begin_to_bring(const std::byte* from, std::size_t bytes);
  void begin_to_take(std::byte* to, std::size_t bytes);
  // Goes on with the copy. Throws Error kSystem.
  Turn go_on();

  // Returns whether no copy is under way. Waits a while for one that is.
  bool is_idle() const noexcept { return worker_.is_idle(); }

 private:
  // What is left of a copy. `on_device` is not written to if the copy goes to the host.
  struct Rest {
    std::byte* on_device = nullptr;
    std::byte* in_memory = nullptr;
    std::size_t bytes = 0;
    bool to_host = false;
  };

  void begin_piece();
  void end_piece() noexcept;

  Flags& flags_;
  Block memory_;  // Not pinned.
  Block pieces_;  // Pinned.
  std::byte* data_ = nullptr;
  bool is_pinned_ = false;
  Rest rest_;
  std::size_t piece_ = 0;  // The first bytes of `rest_`, which the device copies now.
  device::Worker worker_;  // Last: its work uses the memory.
};

}  // namespace rota::collectives
