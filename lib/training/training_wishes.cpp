// Brings the wishes of hooks and of the session to all ranks. The wishes for a step travel with its
// score. Between two epochs a small collective carries them, so that a wish after an evaluation is
// fulfilled at once.
#include <rota/training_loop.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"

namespace rota {
namespace {

// The sums that travel with the score of each step, and sometimes the seconds of all ranks.
enum StepSum : std::size_t { kStop, kCheckpoint, kRankSeconds };
enum RankSecond : std::size_t { kCompute, kWait, kSave, kRankSecondCount };

constexpr std::size_t kReasonBytes = 200;
constexpr std::size_t kOtherRanks = std::numeric_limits<std::size_t>::max();  // As a marker.
constexpr double kMostSteps = 0x1p53;  // A double holds every number of steps up to here.
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

void TrainingLoop::forget_wishes() noexcept {
  is_stop_agreed_ = false;
  rank_seconds_every_ = 0;
  rank_seconds_counter_ = {};
  for (Wisher* wisher : wishers_) {
    wisher->wishes_ = {};
    wisher->rank_seconds_every_ = 0;
  }
}

// Sets step_sums_ for the step that follows place_.
void TrainingLoop::take_wishes_for_step() {
  step_sums_.assign(kRankSeconds, 0);
  for (Wisher* wisher : wishers_) {
    TrainingWishes& wishes = wisher->wishes_;
    if (wishes.stop && place_.steps + 1 >= wisher->stop_after_) step_sums_[kStop] = 1;
    if (std::exchange(wishes.checkpoint, false)) step_sums_[kCheckpoint] = 1;
  }
  const bool is_due = rank_seconds_every_ > 0 && (place_.steps + 1) % rank_seconds_every_ == 0;
  if (is_due) add_rank_seconds();
}

RankSecondsCounter::Reading TrainingLoop::seconds_now() const {
  return {.in_all = base::to_seconds(base::Clock::now().time_since_epoch()),
          .wait = waited_seconds(),
          .checkpoint = session_ == nullptr ? 0 : session_->stalled_seconds()};
}

// Each rank adds to its own place alone, so the sums are the seconds themselves.
void TrainingLoop::add_rank_seconds() {
  // The size does not depend on where the run was started, so a resumed run has the same sums.
  step_sums_.resize(kRankSeconds + kRankSecondCount * communicator_.world_size());
  has_rank_seconds_ = rank_seconds_counter_.steps() > 0;  // The same on all ranks.
  if (!has_rank_seconds_) return;
  const RankSeconds mine = rank_seconds_counter_.take(seconds_now());
  const auto own =
      std::span(step_sums_).subspan(kRankSeconds + kRankSecondCount * communicator_.rank());
  own[kCompute] = mine.compute;
  own[kWait] = mine.wait;
  own[kSave] = mine.checkpoint;
}

std::span<const RankSeconds> TrainingLoop::world_rank_seconds() {
  const std::span<const double> sums = world_more_sums().subspan(kRankSeconds);
  rank_seconds_.clear();
  if (!has_rank_seconds_) return rank_seconds_;
  for (std::size_t at = 0; at < sums.size(); at += kRankSecondCount) {
    rank_seconds_.push_back({sums[at + kCompute], sums[at + kWait], sums[at + kSave]});
  }
  return rank_seconds_;
}

// Fulfils the wishes that travelled with a step. Called when the hooks have been told of that step.
void TrainingLoop::fulfil_step_wishes() {
  const std::span<const double> sums = world_more_sums();
  const TrainingWishes agreed{
      .stop = sums[kStop] > 0, .checkpoint = sums[kCheckpoint] > 0, .marks = take_marks(false)};
  is_stop_agreed_ |= agreed.stop;
  if (session_ == nullptr) return;
  session_->end_step(place_.steps, agreed);
  report_checkpoints();
}

// Rank 0 alone removes checkpoints, so the other ranks need not know. `is_best_agreed`: a hook of
// some rank asks to keep the checkpoint of this step.
std::vector<CheckpointMark> TrainingLoop::take_marks(bool is_best_agreed) {
  std::vector<CheckpointMark> marks;
  bool is_own = false;
  for (std::size_t marker = 0; marker < wishers_.size(); ++marker) {
    TrainingWishes& wishes = wishers_[marker]->wishes_;
    const std::uint64_t kept = std::exchange(wishes.kept_step, 0);
    const bool is_best = is_best_agreed && std::exchange(wishes.best, false);
    is_own |= is_best;
    if (!is_chief()) continue;
    if (kept > 0) marks.push_back({marker, kept});
    if (is_best) marks.push_back({marker, place_.steps});
  }
  if (is_chief() && is_best_agreed && !is_own) marks.push_back({kOtherRanks, place_.steps});
  return marks;
}

// The reduction takes the smallest number of all ranks. So 0 means no wish, and -1 means a wish.
void TrainingLoop::agree_between_epochs() {
  std::array<double, 5> all{0, 0, 0, 1, kNever};
  auto& [stop, checkpoint, best, factor, seconds_every] = all;
  for (Wisher* wisher : wishers_) {
    TrainingWishes& wishes = wisher->wishes_;
    if (wishes.stop && place_.steps >= wisher->stop_after_) stop = -1;
    if (std::exchange(wishes.checkpoint, false)) checkpoint = -1;
    if (wishes.best) best = -1;
    factor = std::min(factor, std::exchange(wishes.learning_rate_factor, 1));
    if (const auto every = std::exchange(wisher->rank_seconds_every_, 0); every > 0) {
      seconds_every = std::min({seconds_every, static_cast<double>(every), kMostSteps});
    }
  }
  communicator_.all_reduce(all, ReduceOp::kMin);
  is_stop_agreed_ |= stop < 0;
  place_.learning_rate_factor *= factor;
  if (seconds_every < kNever) rank_seconds_every_ = static_cast<std::uint64_t>(seconds_every);
  std::vector<CheckpointMark> marks = take_marks(best < 0);
  if (session_ == nullptr) return;
  session_->between_epochs(place_.steps, {.stop = stop < 0,
                                          .checkpoint = checkpoint < 0,
                                          .best = best < 0,
                                          .learning_rate_factor = factor,
                                          .marks = std::move(marks)});
  report_checkpoints();
}

// Returns the reason for the stop from the first rank on which a hook asked for it.
std::string TrainingLoop::shared_stop_reason() {
  std::vector<std::byte> all(kReasonBytes * communicator_.world_size());
  const auto text_of = [&](std::size_t rank) {
    return std::span(reinterpret_cast<char*>(all.data()) + kReasonBytes * rank, kReasonBytes);
  };
  for (const Wisher* wisher : wishers_) {
    if (!wisher->wishes_.stop || place_.steps < wisher->stop_after_) continue;
    const std::string& why = wisher->why_stop_;
    std::copy_n(why.begin(), std::min(why.size(), kReasonBytes),
                text_of(communicator_.rank()).begin());
    break;
  }
  communicator_.all_gather(all);
  for (std::size_t rank = 0; rank < communicator_.world_size(); ++rank) {
    const auto text = text_of(rank);
    const auto end = std::find(text.begin(), text.end(), '\0');
    if (end != text.begin()) return {text.begin(), end};
  }
  return {};
}

void TrainingLoop::report_checkpoints() {
  if (session_ == nullptr) return;
  while (const std::optional<CheckpointReport> report = session_->finished()) {
    newest_checkpoint_ = report->path;
    tell_of_checkpoint(*report);
  }
}

}  // namespace rota
