// Moves marks, and takes them back from checkpoints that are not there.
#include "checkpoint/marks.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace rota::checkpoint {

void Marks::move(std::size_t marker, std::uint64_t step) {
  Mark& mark = marks_[marker];
  settle(mark, step);
  mark.last = step;
}

std::vector<std::uint64_t> Marks::spared_by(std::uint64_t step) {
  std::vector<std::uint64_t> spared;
  for (auto& [marker, mark] : marks_) {
    settle(mark, step);
    mark.at_save = mark.last;
    if (mark.last) spared.push_back(*mark.last);
  }
  std::ranges::sort(spared);
  spared.erase(std::unique(spared.begin(), spared.end()), spared.end());
  return spared;
}

void Marks::note_saved(std::uint64_t step) noexcept {
  for (auto& [marker, mark] : marks_) {
    if (mark.at_save == step) mark.kept = step;
  }
}

// Goes back to the mark before if the checkpoint of the last mark is not there: its save has
// failed, or it was removed before it was marked. The checkpoint of `step` is still to be made.
void Marks::settle(Mark& mark, std::uint64_t step) const {
  if (mark.last == step || mark.last == mark.kept) return;
  std::error_code ignored;  // What cannot be examined may be there.
  const auto status = std::filesystem::symlink_status(folder_.path_of(mark.last.value()), ignored);
  if (status.type() == std::filesystem::file_type::not_found) {
    mark.last = mark.kept;
  } else {
    mark.kept = mark.last;
  }
}

}  // namespace rota::checkpoint
