// Finds the group of each rank and of each evaluator.
#include "launcher/command/groups.h"

#include <algorithm>

#include "base/assert.h"

namespace rota::launcher {

std::optional<std::size_t> count_ranks(const std::vector<Group>& groups) {
  std::size_t count = 0;
  for (const Group& group : groups) {
    if (group.is_evaluator) continue;
    if (!group.count) return std::nullopt;
    count += *group.count;
  }
  return count;
}

std::size_t group_of_rank(const std::vector<Group>& groups, std::size_t rank) {
  std::size_t found = 0;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    if (groups[index].is_evaluator) continue;
    found = index;
    const std::size_t count = groups[index].count.value_or(rank + 1);
    if (rank < count) break;
    rank -= count;
  }
  return found;
}

std::vector<std::size_t> evaluators_of(const std::vector<Group>& groups) {
  std::vector<std::size_t> evaluators;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    const std::size_t count = groups[index].is_evaluator ? groups[index].count.value_or(1) : 0;
    evaluators.insert(evaluators.end(), count, index);
  }
  return evaluators;
}

const Group& first_of_ranks(const std::vector<Group>& groups) {
  const auto found =
      std::ranges::find_if(groups, [](const Group& group) { return !group.is_evaluator; });
  ROTA_ASSERT(found != groups.end());
  return *found;
}

}  // namespace rota::launcher
