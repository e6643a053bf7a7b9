// Reuses the packings of finished operations, the latest first.
#include "communicator/packer.h"

#include <utility>

#include <rota/error.h>

#include "communicator/memory_need.h"

namespace rota {

// Looks at the finished operations whose slots are not reused yet, and finds the latest packing for
// which `will_do` is true. Moves this packing out of its slot and returns it. Returns an empty
// packing if `will_do` is true for none.
template <class WillDo>
Packing Packer::take_over(WillDo will_do) {
  constexpr std::uint64_t kSlots = OperationQueue::kCapacity;
  const std::uint64_t oldest = queue_.next() > kSlots ? queue_.next() - kSlots : 1;
  for (std::uint64_t number = queue_.finished(); number >= oldest; --number) {
    Packing& done = packing_of(number);
    if (will_do(done)) return std::exchange(done, {});
  }
  return {};
}

const Packing& Packer::prepare(std::span<const Values> parts, std::uint64_t call, std::size_t bytes,
                               const collectives::Method& method) {
  Packing packing = take_over([&](const Packing& done) {
    return done.method == &method && (done.call == call || is_of(done, parts));
  });
  if (packing.parts.empty()) packing = pack_anew(parts, bytes, method);
  packing.call = call;
  packing.method = &method;
  return packing_of(queue_.next()) = std::move(packing);
}

Packing Packer::pack_anew(std::span<const Values> parts, std::size_t bytes,
                          const collectives::Method& method) {
  const auto memory = method.memory_of_parts(bytes);
  const ListIf when = method.host_reads_values() ? ListIf::kCheaper : ListIf::kPossible;
  const bool is_listed = !memory.empty() && can_list(parts, memory, when, sorted_);
  if (!is_listed && !method.host_reads_values()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "the host cannot read these buffers, so it cannot pack them into a group: make one call "
        "for each buffer");
  }
  const std::size_t needed = is_listed ? sizeof(collectives::ScatterList) : bytes;
  const Packing& forgotten = packing_of(queue_.next());
  // A new list costs little memory, and the lists in other slots may be for groups that the program
  // repeats. So a list is taken only from the slot that is about to be reused.
  Packing packing = take_over([&](const Packing& done) {
    return done.memory.bytes().size() == needed && done.is_listed == is_listed &&
           (!is_listed || &done == &forgotten);
  });
  packing.parts.assign(parts.begin(), parts.end());
  if (packing.memory.bytes().size() != needed) packing.memory = allocate_for(group_, needed);
  if (is_listed) list_parts(packing, memory);
  return packing;
}

}  // namespace rota
