// Runs the encoding and decoding steps of a coded plan.
#include "collectives/coder.h"

namespace rota::collectives {
namespace {

// Mixes the bits, so that neighbouring numbers give unrelated results.
std::uint64_t mixed(std::uint64_t word) noexcept {
  word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9ULL;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11ebULL;
  return word ^ word >> 31;
}

}  // namespace

Coder::Coder(const kernels::Codings& codings, Codec codec, ReduceOp op, std::size_t rank,
             std::size_t world_size, std::uint64_t seed) noexcept
    : coding_(codings.coding(codec)),
      codec_(codec),
      mean_factor_(op == ReduceOp::kMean ? 1.0F / static_cast<float>(world_size) : 1.0F),
      loss_factor_(op == ReduceOp::kMean ? static_cast<float>(world_size) : 1.0F),
      seed_(mixed(mixed(seed) + rank)) {}

kernels::Dither Coder::dither(std::size_t first, std::uint64_t number) const noexcept {
  return {.key = static_cast<std::uint32_t>(mixed(seed_ + number)),
          .first = static_cast<std::uint32_t>(first)};
}

void Coder::encode(std::byte* coded, const std::byte* values, std::byte* feedback,
                   std::size_t count, std::size_t first, std::uint64_t number,
                   bool last) const noexcept {
  coding_.encode(coded, values, count, dither(first, number));
  if (feedback) coding_.lose(feedback, values, coded, count, factor_of_loss(last));
}

void Coder::decode(std::byte* values, const std::byte* coded, std::size_t count) const noexcept {
  coding_.decode(values, values, coded, count, 1);
}

void Coder::decode_add(std::byte* values, const std::byte* coded, std::size_t count,
                       bool last) const noexcept {
  coding_.add(values, values, coded, count, factor_of_addition(last));
}

}  // namespace rota::collectives
