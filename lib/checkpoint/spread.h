// Sends what a host lacks of the checkpoint that all ranks restore. If nothing were sent, a host
// with a new disk could not take part in a run whose other hosts have checkpoints.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "checkpoint/choose.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/owner.h"
#include "checkpoint/writers.h"

namespace rota::checkpoint {

// A file of the checkpoint that one rank sends to another.
struct Sending {
  std::size_t from = 0;
  std::size_t to = 0;
  ManifestFile file;
  friend bool operator==(const Sending&, const Sending&) = default;
};

// What is sent so that each group gets what all ranks share, and each rank the pieces that it
// restores of ranks whose pieces only other groups have. Ranks send and receive in this order. A
// pure function: all ranks compute the same. `copies`: index = group, as in Choice.
std::vector<Sending> plan_sendings(const Writers& writers,
                                   std::span<const std::optional<Manifest>> copies);

// Returns the ranks that saved pieces of their own, and whose pieces no copy has.
std::vector<std::size_t> lost_ranks(std::span<const std::optional<Manifest>> copies);

// Sends, and completes Choice::checkpoint on every rank. A group that had no copy has one in
// `folder` afterwards. `owner` is null on all ranks but the first of a group. Collective. Returns
// what was lost, for people; empty if nothing was. Throws Error kCannotWrite, with the same text on
// every rank, if a host cannot write its copy; and what collectives throw.
std::string spread(Communicator& communicator, const Writers& writers,
                   const CheckpointFolder& folder, const Owner* owner, Choice& choice);

}  // namespace rota::checkpoint
