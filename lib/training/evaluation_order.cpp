// Finds the last checkpoint of a run. Keeps the checkpoints that wait, and those that are settled.
#include "training/evaluation_order.h"

#include <algorithm>
#include <utility>

namespace rota::training {
namespace {

bool is_written_before(const SavedCheckpoints::value_type& left,
                       const SavedCheckpoints::value_type& right) {
  return std::tie(left.first.changed, left.first.step) <
         std::tie(right.first.changed, right.first.step);
}

}  // namespace

std::optional<SeenCheckpoint> last_of(const SavedCheckpoints& saved,
                                      std::optional<std::uint64_t> ended) {
  if (saved.empty()) return std::nullopt;
  const std::string& run = std::ranges::max_element(saved, is_written_before)->second.run;
  std::optional<SeenCheckpoint> last;
  std::uint64_t last_start = 0;
  for (const auto& [seen, by] : saved) {
    if (seen.step == ended) return seen;
    const bool is_later = !last || std::tie(by.start, seen.step) > std::tie(last_start, last->step);
    if (by.run != run || !is_later) continue;
    last = seen;
    last_start = by.start;
  }
  return last;
}

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

std::optional<SeenCheckpoint> EvaluationOrder::next() const {
  if (waiting_.empty()) return std::nullopt;
  return *waiting_.begin();
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
