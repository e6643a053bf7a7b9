// Counts islands.
#include "base/transports.h"

#include <algorithm>
#include <array>
#include <set>

namespace rota::base {
namespace {

struct Row {
  std::string_view transport;
  Ways ways;
};

constexpr std::array<Row, 4> kTransports{
    {{"none", Ways::kNone}, {"shm", Ways::kMemory}, {"tcp", Ways::kTcp}, {"shm+tcp", Ways::kBoth}}};

Ways ways_between(std::span<const std::uint32_t> islands) {
  if (islands.size() == 1) return Ways::kNone;
  const std::set<std::uint32_t> numbers(islands.begin(), islands.end());
  if (numbers.size() == 1) return Ways::kMemory;
  return numbers.size() == islands.size() ? Ways::kTcp : Ways::kBoth;
}

}  // namespace

std::string_view transport_name(Ways ways) noexcept {
  return std::ranges::find(kTransports, ways, &Row::ways)->transport;
}

Ways ways_of(std::string_view transport) noexcept {
  const auto* row = std::ranges::find(kTransports, transport, &Row::transport);
  return row == kTransports.end() ? Ways::kNone : row->ways;
}

std::string transport_between(std::span<const std::uint32_t> islands) {
  return std::string(transport_name(ways_between(islands)));
}

Islands islands_over(std::string_view transport, std::size_t world_size) {
  return ways_of(transport) == Ways::kTcp ? each_alone(world_size) : Islands(world_size, 0);
}

bool shares_memory(std::string_view transport) noexcept {
  const Ways ways = ways_of(transport);
  return ways == Ways::kMemory || ways == Ways::kBoth;
}

bool listens(std::string_view transport) noexcept {
  const Ways ways = ways_of(transport);
  return ways == Ways::kTcp || ways == Ways::kBoth;
}

}  // namespace rota::base
