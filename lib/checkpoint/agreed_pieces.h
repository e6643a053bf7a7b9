// The pieces that all ranks share must be the same pieces on every rank. A save deals them among
// the ranks, so if a rank lacks a piece or has another one, no checkpoint can be restored.
#pragma once
#include <cstdint>

#include <rota/communicator.h>
#include <rota/training_state.h>

#include "checkpoint/manifest.h"
#include "checkpoint/writers.h"

namespace rota::checkpoint {

// What to do if ranks have different pieces.
inline constexpr const char* kSamePieces =
    "every rank tracks the same values and adds the same hooks, in the same order; what rank 0 "
    "alone has is added with add_chief_hook()";

// Returns a hash of the names, types and shapes of the pieces in a manifest.
std::uint64_t hash_of_pieces(const Manifest& manifest);

// Requires that `visit` names the same shared pieces on all ranks, in the same order. Collective.
// Throws Error kMismatch on every rank, which blames the first rank that differs from rank 0; what
// `visit` throws, and then Error kInvalidArgument on the other ranks; and what collectives throw.
void require_equal_pieces(Communicator& communicator, const Writers& writers,
                          const StateVisit& visit);

}  // namespace rota::checkpoint
