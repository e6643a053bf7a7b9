// Keeps the checkpoints that wait, and those that are settled.
#include "training/evaluation_order.h"

#include <algorithm>
#include <utility>

namespace rota::training {
namespace {

bool is_written_before(const SeenCheckpoint& left, const SeenCheckpoint& right) {
  return std::tie(left.changed, left.step) < std::tie(right.changed, right.step);
}

}  // namespace

void EvaluationOrder::look(const std::set<SeenCheckpoint>& now) {
  std::erase_if(waiting_, [&](const auto& each) {
    const bool is_gone = !now.contains(each);
    if (is_gone) missed_.insert(each);
    return is_gone;
  });
  std::erase_if(settled_, [&](const auto& each) { return !now.contains(each); });
  for (const SeenCheckpoint& each : now) {
    if (!settled_.contains(each)) waiting_.insert(each);
  }
}

std::optional<SeenCheckpoint> EvaluationOrder::next(bool is_ending) const {
  if (waiting_.empty()) return std::nullopt;
  if (!is_ending) return *waiting_.begin();
  // Not by step: the folder may have later steps from which the run was not resumed.
  const SeenCheckpoint& newest = *std::ranges::max_element(waiting_, is_written_before);
  if (!settled_.empty() &&
      is_written_before(newest, *std::ranges::max_element(settled_, is_written_before))) {
    return std::nullopt;
  }
  return newest;
}

void EvaluationOrder::settle(const SeenCheckpoint& checkpoint) {
  waiting_.erase(checkpoint);
  missed_.erase(checkpoint);  // There if the checkpoint was removed while it was evaluated.
  settled_.insert(checkpoint);
}

std::set<SeenCheckpoint> EvaluationOrder::take_missed() {
  taken_ += missed_.size();
  return std::exchange(missed_, {});
}

}  // namespace rota::training
