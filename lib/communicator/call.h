// What a caller asks a Communicator for, before anybody has looked whether it makes sense.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "collectives/description.h"

namespace rota {

struct Call {
  collectives::Collective collective = collectives::Collective::kBarrier;
  std::optional<Values> values{};      // To be changed.
  std::optional<ConstValues> input{};  // To be read.
  Reduction reduction = ReduceOp::kSum;
  std::size_t root = 0;                           // Or the peer of a send or receive.
  bool uneven = false;                            // `counts` count.
  std::span<const std::size_t> counts{};          // Of the parts; of all_to_all_v: sent.
  std::span<const std::size_t> receive_counts{};  // Of all_to_all_v.
  std::span<const Values> group{};                // Instead of `values`.
  std::optional<Values> feedback{};               // Of a codec.
};

// Whether describe() would say of `call` what it said of `last`, by a few looks. False where that
// would take more.
bool is_again(const Call& call, const Call& last) noexcept;

// Throws Error kInvalidArgument with a sentence that says what does not fit. Of the description,
// the algorithm is left open, and the codec where the caller names none.
collectives::Description describe(const Call& call, std::size_t rank, std::size_t world_size);

}  // namespace rota
