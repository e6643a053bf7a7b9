// Which checkpoint an evaluator takes next. Knows no clock, file or process: the caller says what
// the folder has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
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

// Which start of which run has saved a checkpoint, as its manifest says.
struct SavedBy {
  std::string run;
  std::uint64_t start = 1;
};

using SavedCheckpoints = std::map<SeenCheckpoint, SavedBy>;

// Returns the last checkpoint of the run, or nothing if `saved` is empty. It is the one of step
// `ended`. If there is none, it is the one with the largest step of the latest start. An earlier
// start may have larger steps, from which the run was not resumed. Times say little, because a
// clock may be set back. They only tell which run has written last, if several share the folder.
std::optional<SeenCheckpoint> last_of(const SavedCheckpoints& saved,
                                      std::optional<std::uint64_t> ended);

class EvaluationOrder {
 public:
  // `now` is all that the folder has. What waited and is gone was missed.
  void look(const std::set<SeenCheckpoint>& now);

  // Returns the checkpoint of the smallest step that waits, or nothing if none does.
  std::optional<SeenCheckpoint> next() const;

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
