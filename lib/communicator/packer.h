// Makes one operation of the buffers of each grouped call, and keeps what it needed for the next.
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

// The same groups come again and again, so what an operation that is done has used is taken over.
class Packer {
 public:
  // Both outlive it.
  Packer(const Group& group, const OperationQueue& queue) : group_(group), queue_(queue) {}

  // For the operation that is queued next, which `method` makes: of `parts`, which have `bytes`
  // together. `call` tells calls apart that were found to be different. Valid until the operation's
  // slot is used again. Throws Error kNoMemory, and kInvalidArgument where the host would have to
  // copy values that it cannot read.
  const Packing& pack(std::span<const Values> parts, std::uint64_t call, std::size_t bytes,
                      const collectives::Method& method);

  // What the slot of the operation that is queued next has kept.
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
  std::array<Packing, OperationQueue::kCapacity> packings_;  // By the queue's slots.
  std::vector<Values> sorted_;                               // Parts that are looked at.
};

}  // namespace rota
