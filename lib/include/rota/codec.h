// Says how values are encoded while they travel between ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <rota/export.h>

namespace rota {

// An all-reduce that sums or averages float32 can send fewer bytes than its values have. Ranks add
// in float32, whatever the codec. Every rank ends with the same bits, and the bits do not depend on
// the transport. Below, each codec has its bytes per element, and what an encoding loses.
enum class Codec : std::uint8_t {
  kIdentity,  // 4; loses nothing.
  kBfloat16,  // 2; to nearest with 8 significant bits.
  kFloat16,   // 2; to nearest with 11 significant bits; magnitudes above 65504 become infinite.
  kInt8,  // 1.02; to the nearest of 255 levels; the largest magnitude of a block of 256 sets the
          // scale.
  kInt8Stochastic,  // 1.02; up or down to one of these levels, at random; the mean error is 0.
  kTopK,            // 0.1; keeps only the 64 largest magnitudes of each block of 4096.
};

// Returns the name of `codec`: "identity", "bf16", "fp16", "int8", "int8-stochastic" or "top-k";
// otherwise "unknown".
ROTA_EXPORT std::string_view to_string(Codec codec) noexcept;

// Returns the codec of this name, or nothing if there is none.
ROTA_EXPORT std::optional<Codec> codec_named(std::string_view name) noexcept;

// An all-reduce of fewer bytes than this travels uncoded unless the call names a codec: at these
// sizes, a codec would not make the all-reduce faster.
inline constexpr std::size_t kLeastCodedBytes = 64 * 1024;

// Returns whether training with this codec needs error feedback: a step adds what the previous step
// has lost. This is true for codecs that lose more than kBfloat16 and kFloat16.
constexpr bool wants_feedback(Codec codec) noexcept { return codec >= Codec::kInt8; }

}  // namespace rota
