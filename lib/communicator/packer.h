// Packs the buffers of a grouped call into one operation, and keeps the packing for the next call.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/values.h>

#include "communicator/group.h"
#include "communicator/operation_queue.h"
#include "communicator/packing.h"

namespace rota {

// Prepares the Packing of grouped calls. Programs repeat the same groups of buffers, so a new
// operation reuses the packing of a finished operation.
class Packer {
 public:
  // Both arguments must outlive the object.
  Packer(const Group& group, const OperationQueue& queue) : group_(group), queue_(queue) {}

  // Prepares the packing of the operation that is queued next. `method` runs this operation.
  // `parts` have `bytes` bytes in total. `call` identifies a call that the planner has examined.
  // The result is valid until the operation's slot is reused. Throws Error kNoMemory;
  // kInvalidArgument if the host would have to copy values that it cannot read.
  const Packing& prepare(std::span<const Values> parts, std::uint64_t call, std::size_t bytes,
                         const collectives::Method& method);

  // Frees the packing in the slot of the operation that is queued next.
  void forget() noexcept { packing_of(queue_.next()) = {}; }

 private:
  Packing& packing_of(std::uint64_t number) noexcept {
    return packings_[number % OperationQueue::kCapacity];
  }
  template <class WillDo>
  Packing take_over(WillDo will_do);
  Packing pack_anew(std::span<const Values> parts, std::size_t bytes,
                    const collectives::Method& method);

  const Group& group_;
  const OperationQueue& queue_;
  std::array<Packing, OperationQueue::kCapacity> packings_;  // Index = the queue's slot.
  std::vector<Values> sorted_;                               // Scratch for can_list().
};

}  // namespace rota
