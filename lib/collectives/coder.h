// A codec's kernels, chosen once for an operation.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/codec.h>
#include <rota/reduce_op.h>

#include "kernels/codings.h"

namespace rota::collectives {

class Coder {
 public:
  // `seed` and, later, an operation's number are what stochastic rounding depends on, beside the
  // rank and the element.
  Coder(const kernels::Codings& codings, Codec codec, ReduceOp op, std::size_t rank,
        std::size_t world_size, std::uint64_t seed) noexcept;

  // Of elements from the start of a buffer: `count` is a multiple of the grain, or all of them.
  std::size_t bytes(std::size_t count) const noexcept {
    return kernels::coded_bytes(codec_, count);
  }

  // The values from element `first` on. What is lost replaces `feedback`, where that is not null:
  // in the units of a contribution, so that of a finished mean it is world_size times as much.
  void encode(std::byte* coded, const std::byte* values, std::byte* feedback, std::size_t count,
              std::size_t first, std::uint64_t number, bool last) const noexcept;
  void decode(std::byte* values, const std::byte* coded, std::size_t count) const noexcept;
  void decode_add(std::byte* values, const std::byte* coded, std::size_t count,
                  bool last) const noexcept;

 private:
  kernels::Coding coding_;
  Codec codec_;
  float mean_factor_;  // Of the last addition.
  float loss_factor_;
  std::uint64_t seed_;
};

}  // namespace rota::collectives
