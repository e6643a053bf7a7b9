// Looks through the table of transports, and counts islands.
#include "base/transports.h"

#include <algorithm>
#include <set>

namespace rota::base {

const TransportRow* find_transport(std::string_view name) noexcept {
  const auto* row = std::ranges::find(kTransports, name, &TransportRow::name);
  return row == kTransports.end() ? nullptr : row;
}

const TransportRow& transport_for(Sharing sharing) noexcept {
  return *std::ranges::find(kTransports, sharing, &TransportRow::sharing);
}

Sharing sharing_between(std::span<const std::uint32_t> islands) {
  const std::set<std::uint32_t> numbers(islands.begin(), islands.end());
  if (numbers.size() == islands.size()) return Sharing::kNone;
  return numbers.size() == 1 ? Sharing::kAll : Sharing::kIsland;
}

std::string_view transport_between(std::span<const std::uint32_t> islands) {
  return islands.size() == 1 ? kNoTransport : transport_for(sharing_between(islands)).name;
}

Islands islands_over(std::string_view transport, std::size_t world_size) {
  const TransportRow* row = find_transport(transport);
  return row && row->sharing == Sharing::kNone ? each_alone(world_size) : Islands(world_size, 0);
}

Sharing sharing_over(std::string_view transport) noexcept {
  const TransportRow* row = find_transport(transport);
  return row ? row->sharing : Sharing::kNone;
}

bool listens(std::string_view transport) noexcept {
  const TransportRow* row = find_transport(transport);
  return row && row->listens;
}

}  // namespace rota::base
