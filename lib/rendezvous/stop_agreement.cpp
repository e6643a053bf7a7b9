// Finds the highest step that any rank has begun. All other ranks must do that step too.
#include "rendezvous/stop_agreement.h"

#include <algorithm>

#include "base/assert.h"

namespace rota::rendezvous {

bool StopAgreement::may_train(std::size_t rank) {
  if (has_begun_ && !last_step_) return false;
  if (ranks_[rank].state != State::kGone) ranks_[rank] = {State::kTraining, std::nullopt};
  return true;
}

void StopAgreement::on_trained(std::size_t rank, std::uint64_t step) {
  if (ranks_[rank].state == State::kTraining) ranks_[rank] = {State::kResting, step};
}

void StopAgreement::on_begun(std::size_t rank, std::uint64_t step) {
  if (has_begun_ && ranks_[rank].state == State::kTraining) ranks_[rank].begun = step;
}

bool StopAgreement::is_possible() const {
  bool somebody_trains = false;
  for (const Rank& rank : ranks_) {
    if (rank.state == State::kNew) return false;
    somebody_trains = somebody_trains || rank.state == State::kTraining;
  }
  return somebody_trains;
}

std::vector<std::size_t> StopAgreement::begin() {
  ROTA_ASSERT(is_possible());
  std::vector<std::size_t> asked;
  for (std::size_t rank = 0; !has_begun_ && rank < ranks_.size(); ++rank) {
    if (ranks_[rank].state == State::kTraining) asked.push_back(rank);
  }
  has_begun_ = true;
  return asked;
}

// Ranks that have gone do not count: a step that only such ranks have begun cannot be finished.
std::optional<std::uint64_t> StopAgreement::settle() {
  if (!has_begun_ || last_step_) return last_step_;
  std::uint64_t highest = 0;
  for (const Rank& rank : ranks_) {
    if (rank.state == State::kGone) continue;
    if (!rank.begun) return std::nullopt;
    highest = std::max(highest, *rank.begun);
  }
  last_step_ = highest;
  return last_step_;
}

}  // namespace rota::rendezvous
