// The marks of a run: each spares one checkpoint from removal, until the same marker marks a better
// one. Several markers may have different views of what is best.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoint/folder.h"

namespace rota::checkpoint {

class Marks {
 public:
  explicit Marks(CheckpointFolder folder) : folder_(std::move(folder)) {}

  // Moves the mark of `marker` to the checkpoint of `step`, which may still be to be made.
  void move(std::size_t marker, std::uint64_t step);

  // Returns the steps that the save of `step` spares, ascending.
  std::vector<std::uint64_t> spared_by(std::uint64_t step);

  // The save of `step`, for which spared_by() was called last, is complete.
  void note_saved(std::uint64_t step) noexcept;

 private:
  struct Mark {
    std::optional<std::uint64_t> last;
    std::optional<std::uint64_t> kept;     // The last whose checkpoint was there.
    std::optional<std::uint64_t> at_save;  // What `last` was when the save began.
  };

  void settle(Mark& mark, std::uint64_t step) const;

  CheckpointFolder folder_;
  std::map<std::size_t, Mark> marks_;  // By marker.
};

}  // namespace rota::checkpoint
