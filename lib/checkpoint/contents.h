// The pieces of a training state, by name, with the memory that they are in. A save reads this
// memory and a restore writes it, so the state is never copied as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rota/training_state.h>

#include "checkpoint/tensor.h"

namespace rota::checkpoint {

// Returns whether the piece is the same on all ranks, between two steps.
inline bool is_shared(const StatePiece& piece) { return piece.owner == StateOwner::kWorld; }

struct VisitedFact {
  StatePiece piece;
  std::string value;
};

struct VisitedCounter {
  StatePiece piece;
  std::uint64_t value = 0;
};

struct VisitedTensor {
  StatePiece piece;
  TensorInfo info;
  // The memory of the training run. For StateWriter::kStep, the memory of the training run may end
  // with the visit, so this is the memory of `copy`.
  std::span<const std::byte> memory;
  std::vector<std::byte> copy;
};

// In the order of the visit.
struct Contents {
  std::vector<VisitedFact> facts;
  std::vector<VisitedCounter> counters;
  std::vector<VisitedTensor> tensors;
};

// Throws Error kInvalidArgument if the values of this name are in the memory of a device, which the
// host can neither save nor restore.
void require_host_memory(const std::string& name, const Values& values);

// Throws Error kInvalidArgument if two pieces have the same name, and what require_host_memory()
// throws.
Contents contents_of(const StateVisit& visit);

}  // namespace rota::checkpoint
