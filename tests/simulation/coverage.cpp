// Counts failures, and prints the counts.
#include "simulation/coverage.h"

#include <cstddef>
#include <cstdio>
#include <string_view>

namespace rota::simulation {
namespace {

// Returns whether a rank at this place can fail in this way. A rank that reaches all others through
// memory sends nothing over sockets, so this rank cannot starve. Ranks that share memory use no
// devices.
bool can_be(Place place, Failure failure) {
  if (failure == Failure::kFaults) return place == Place::kNoneShares;
  return failure != Failure::kNone &&
         !(place == Place::kAllShareMemory && failure == Failure::kStarves);
}
// A group of buffers on a device is refused, and a barrier uses no device.
bool can_be(Kind kind, Failure failure) {
  if (failure == Failure::kFaults) return kind != Kind::kGroup && kind != Kind::kBarrier;
  return failure != Failure::kNone;
}

std::string in_column(std::string_view text) {
  char column[16];
  std::snprintf(column, sizeof column, "%10.*s", static_cast<int>(text.size()), text.data());
  return column;
}

// Calls visit(name, failure, count, whether the pair can occur) for each cell.
template <class Of, class Rows, class F>
void for_each_cell(const Rows& rows, F visit) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto of = static_cast<Of>(row);
    for (std::size_t i = 1; i < kFailures; ++i) {
      const auto failure = static_cast<Failure>(i);
      visit(name_of(of), failure, rows[row][i], can_be(of, failure));
    }
  }
}

}  // namespace

void Coverage::add(const Scenario& scenario, const std::bitset<kKinds>& kinds) {
  if (!can_be(scenario.place(), scenario.failure)) return;
  const auto failure = static_cast<std::size_t>(scenario.failure);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (kinds[kind]) ++kinds_[kind][failure];
  }
  ++places_[static_cast<std::size_t>(scenario.place())][failure];
}

std::string Coverage::to_text() const {
  constexpr std::size_t kNameColumns = 16;
  std::string text(kNameColumns, ' ');
  for (std::size_t i = 1; i < kFailures; ++i) {
    text += in_column(name_of(static_cast<Failure>(i)));
  }
  const auto add = [&](std::string_view name, Failure failure, std::uint64_t count, bool is_one) {
    if (failure == static_cast<Failure>(1)) {
      text += "\n" + std::string(name) + std::string(kNameColumns - name.size(), ' ');
    }
    text += in_column(is_one ? std::to_string(count) : "-");
  };
  for_each_cell<Kind>(kinds_, add);
  text += "\n";
  for_each_cell<Place>(places_, add);
  return text + "\n";
}

std::string Coverage::gaps() const {
  std::string text;
  const auto add = [&](std::string_view name, Failure failure, std::uint64_t count, bool is_one) {
    if (!is_one || count > 0) return;
    text += std::string(name) + ": no rank " + std::string(name_of(failure)) + "\n";
  };
  for_each_cell<Kind>(kinds_, add);
  for_each_cell<Place>(places_, add);
  return text;
}

}  // namespace rota::simulation
