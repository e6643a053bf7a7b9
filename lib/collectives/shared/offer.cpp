// Finds the values of an operation in the memory that peers can access.
#include "collectives/shared/offer.h"

namespace rota::collectives {
namespace {

std::uint64_t offset_in(std::span<const std::byte> memory, const void* start,
                        std::size_t bytes) noexcept {
  const auto* first = static_cast<const std::byte*>(start);
  const bool inside = first >= memory.data() && first <= memory.data() + memory.size() &&
                      bytes <= static_cast<std::size_t>(memory.data() + memory.size() - first);
  return inside ? static_cast<std::uint64_t>(first - memory.data()) : Offer::kNowhere;
}

}  // namespace

bool gives_in(const Description& call, std::size_t rank) noexcept {
  return call.collective != Collective::kBroadcast || rank == call.root;
}

bool takes_in(const Description& call, std::size_t rank) noexcept {
  if (!has_root(call.collective)) return true;
  return (rank == call.root) == (call.collective == Collective::kReduce);
}

Offer offer_of(const Operation& operation, std::span<const std::byte> memory) noexcept {
  const double factor = operation.planned->reducer.pre_factor();
  if (operation.parts) {
    const std::uint64_t list = offset_in(memory, operation.parts, sizeof *operation.parts);
    return {.from = list, .to = list, .factor = factor, .is_list = 1};
  }
  const std::size_t bytes = bytes_of(operation);
  return {.from = offset_in(memory, contribution_of(operation), bytes),
          .to = offset_in(memory, buffer_of(operation, Buffer::kValues), bytes),
          .factor = factor};
}

bool is_reached(const Description& call, std::size_t rank, const Offer& offer) noexcept {
  return (offer.from != Offer::kNowhere || !gives_in(call, rank)) &&
         (offer.to != Offer::kNowhere || !takes_in(call, rank));
}

}  // namespace rota::collectives
