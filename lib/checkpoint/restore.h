// Writes a checkpoint to the pieces of a training run. The run may have another world, and other
// options where StateFit allows it.
#pragma once
#include <cstddef>
#include <string>

#include <rota/training_state.h>

#include "checkpoint/reader.h"

namespace rota::checkpoint {

// The rank that gets the own pieces of saved rank `saved`, in a world of `world_size` ranks.
constexpr std::size_t restoring_rank(std::size_t saved, std::size_t world_size) noexcept {
  return saved % world_size;
}

struct RestoredBy {
  std::size_t rank = 0;  // This rank's number in the world that restores.
  std::size_t world_size = 1;
};

// What a rank says of a restore, for people. Empty texts: there is nothing to say.
struct RestoreNotes {
  std::string differences;  // Of facts.
  std::string losses;       // What begins anew, and what of the checkpoint is left out.
};

// Returns why `checkpoint` cannot be written to the pieces that `visit` names, with both sides, or
// an empty text if it can. Changes nothing.
std::string why_not_restored(const CheckpointReader& checkpoint, const StateVisit& visit);

// Writes the shared pieces, and the pieces of this rank. If the world that saved had another size,
// its ranks are divided among the ranks that restore. For a kSummed tensor, this rank gets the sum
// over the saved ranks in its share, so the sum over all ranks stays the same. All other pieces of
// a rank come from one saved rank of its share. Requires why_not_restored() to be empty.
RestoreNotes restore(const CheckpointReader& checkpoint, const StateVisit& visit,
                     const RestoredBy& by);

// Returns whether restore_parameters() can write the tensors of the model. Changes nothing.
bool do_parameters_fit(const CheckpointReader& checkpoint, const StateVisit& visit);

// Writes the tensors of the model alone. Throws Error kMismatch, with nothing written, if a
// parameter is missing or has another shape or type.
void restore_parameters(const CheckpointReader& checkpoint, const StateVisit& visit);

}  // namespace rota::checkpoint
