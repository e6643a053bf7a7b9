// Texts of any length between the ranks that save or restore a checkpoint: the outcome of a rank's
// part, and the entries of its files.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "base/byte_stream.h"

namespace rota::checkpoint {

// All that was written, as a text.
std::string text_of(base::ByteWriter& writer);

// Runs `work`. Returns the text of the exception that it throws, or an empty text: what a rank
// tells the others before it goes on.
std::string failure_of(const std::function<void()>& work);

// These are collective: every rank of `communicator` must call them. They throw what collectives
// throw.

// Returns the texts of all ranks, in rank order.
std::vector<std::string> all_texts(Communicator& communicator, const std::string& mine);

// Returns the text of rank 0. Ignores `mine` of all other ranks.
std::string text_of_rank_0(Communicator& communicator, const std::string& mine);

// Returns on rank 0 what other ranks say and rank 0 does not, each text once: "rank 1 (and 2 more):
// TEXT". Returns an empty text on all other ranks.
std::string other_texts(Communicator& communicator, const std::string& mine);

}  // namespace rota::checkpoint
