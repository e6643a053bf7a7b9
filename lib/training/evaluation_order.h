// Which checkpoint an evaluator takes next. Knows no clock, file or process: the caller says what
// the folder has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

namespace rota::training {

// A checkpoint in a folder. `changed` is when its folder last changed: another checkpoint of the
// same step has another time.
struct SeenCheckpoint {
  std::uint64_t step = 0;
  std::int64_t changed = 0;
  friend bool operator==(const SeenCheckpoint&, const SeenCheckpoint&) = default;
  friend bool operator<(const SeenCheckpoint& left, const SeenCheckpoint& right) noexcept {
    return std::tie(left.step, left.changed) < std::tie(right.step, right.changed);
  }
};

class EvaluationOrder {
 public:
  // `now` is all that the folder has. What waited and is gone was missed.
  void look(const std::set<SeenCheckpoint>& now);

  // The oldest checkpoint that waits. If the process is about to end, the one that was written
  // last, unless it is settled: there may be time for one.
  std::optional<SeenCheckpoint> next(bool is_ending) const;

  bool waits(const SeenCheckpoint& checkpoint) const { return waiting_.contains(checkpoint); }
  std::size_t waiting_count() const noexcept { return waiting_.size(); }

  // The checkpoint was evaluated, now or earlier, or cannot be.
  void settle(const SeenCheckpoint& checkpoint);

  // Returns how many were missed in all.
  std::uint64_t missed() const noexcept { return taken_ + missed_.size(); }

  // Returns what was missed since the last call. Must not be called while a checkpoint is
  // evaluated: that one may be gone, and is settled yet.
  std::set<SeenCheckpoint> take_missed();

 private:
  std::set<SeenCheckpoint> waiting_;
  std::set<SeenCheckpoint> settled_;
  std::set<SeenCheckpoint> missed_;  // Not taken yet.
  std::uint64_t taken_ = 0;          // How many take_missed() has returned.
};

}  // namespace rota::training
