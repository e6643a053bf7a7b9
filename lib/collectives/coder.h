// The kernels of a codec, chosen once for an operation.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/codec.h>
#include <rota/reduce_op.h>

#include "kernels/codings.h"

namespace rota::collectives {

class Coder {
 public:
  // Stochastic rounding depends on `seed`, on `rank`, on encode()'s `number`, and on the element.
  Coder(const kernels::Codings& codings, Codec codec, ReduceOp op, std::size_t rank,
        std::size_t world_size, std::uint64_t seed) noexcept;

  // Returns how many bytes the encoded form of the first `count` elements of a buffer has. `count`
  // must be a multiple of the codec's grain, or the number of all elements.
  std::size_t bytes(std::size_t count) const noexcept {
    return kernels::coded_bytes(codec_, count);
  }

  // An executor that runs kernels of a device gives them the same arguments as encode() does.
  Codec codec() const noexcept { return codec_; }
  kernels::Dither dither(std::size_t first, std::uint64_t number) const noexcept;
  float factor_of_addition(bool last) const noexcept { return last ? mean_factor_ : 1.0F; }
  float factor_of_loss(bool last) const noexcept { return last ? loss_factor_ : 1.0F; }

  // Encodes `count` values. `first` is the index of the first of these values in the operation's
  // buffer. If `feedback` is not null, the encoding loss is written there, in the units of a
  // contribution: the loss of a finished mean is multiplied by world_size.
  void encode(std::byte* coded, const std::byte* values, std::byte* feedback, std::size_t count,
              std::size_t first, std::uint64_t number, bool last) const noexcept;
  void decode(std::byte* values, const std::byte* coded, std::size_t count) const noexcept;
  void decode_add(std::byte* values, const std::byte* coded, std::size_t count,
                  bool last) const noexcept;

 private:
  kernels::Coding coding_;
  Codec codec_;
  float mean_factor_;  // For the last addition.
  float loss_factor_;
  std::uint64_t seed_;
};

}  // namespace rota::collectives
