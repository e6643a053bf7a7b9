// Finds out which ranks are alike in a call, so that a few ranks stand for all. In a ring of equal
// hosts, for example, the ranks of the next host do the same as those of this host.
#pragma once
#include <cstddef>

#include "predict/simulation.h"

namespace rota::bench {

// Which ranks are simulated.
enum class Fold {
  kIfAlike,  // A few ranks, in each call in which they stand for all.
  kNever,    // All ranks.
  kAlways,   // The same as kIfAlike, but a bucket whose ranks are not alike is an error.
};

// Returns how many ranks stand for all in `call`: rank r does what rank r % period does, with peers
// that are as far away. Returns the world size if ranks are not alike.
std::size_t period_of(const WorldModel& model, const Call& call);

// Throws std::invalid_argument if no rank stands for another one in `call`.
void require_alike(const WorldModel& model, const Call& call);

// Returns the call that the ranks of a fold simulate. All of its chunks are equal. If each rank has
// a cable of its own, they are as large as the largest chunk of `call`, which the others wait for.
// Otherwise a cable carries the chunks of several ranks one after another, and they are as large as
// the mean.
Call with_equal_chunks(const WorldModel& model, const Call& call);

// Tells if `call` is a direct plan in which some ranks have no chunk.
bool has_gaps(const WorldModel& model, const Call& call);

// Returns the model in which the ranks of a fold run a `call` that has gaps: only the first k of n
// ranks have a chunk. The end of the call then waits for other numbers of messages than in the
// fold. So the messages of the fold cost more or less:
// - A rank with a chunk sends k - 1 values and receives n - 1. Then it sends n - 1 sums, and
//   receives k - 1. At the end, the last rank receives all k sums at once. In the fold, a rank
//   sends and receives 4 (n - 1) messages.
// - The cable of a rank with a chunk carries n - 1 values in, and then n - 1 sums out. At the end,
//   the cable of the last rank carries k - 1 more. In the fold, a cable carries 2 (n - 1) messages.
WorldModel with_equal_work(const WorldModel& model, const Call& call);

// Returns the clock of the first `period` ranks. A rank is free when all ranks are that it stands
// for.
Clock folded(const Clock& clock, std::size_t period);

// Sets the clock of all ranks to that of the ranks that stand for them.
void unfold(const Clock& few, Clock& clock);

}  // namespace rota::bench
