// What values look like on their way between ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <rota/export.h>

namespace rota {

// Sums and means of float32 can travel in fewer bytes than they have. They are added in float32
// whatever the codec; what a codec makes of a sum is the same on every rank, bit for bit, and does
// not depend on the transport. Bytes per element, and what an encoding loses:
enum class Codec : std::uint8_t {
  kIdentity,        // 4, nothing.
  kBfloat16,        // 2, to nearest with 8 significant bits.
  kFloat16,         // 2, to nearest with 11 significant bits; beyond 65504 it becomes infinite.
  kInt8,            // 1.02, to the nearest of 255 levels within the largest of 256 neighbours.
  kInt8Stochastic,  // The same, to one of the two steps around it, so that the mean is right.
  kTopK,            // 0.1, all but the largest 64 of 4096 neighbours.
};

// "identity", "bf16", "fp16", "int8", "int8-stochastic", "top-k"; "unknown"
ROTA_EXPORT std::string_view to_string(Codec codec) noexcept;

// By its name; empty where there is none of that name.
ROTA_EXPORT std::optional<Codec> codec_named(std::string_view name) noexcept;

// What has fewer bytes travels as it is, unless a call names its codec: it takes as long whatever
// its size.
inline constexpr std::size_t kLeastCodedBytes = 64 * 1024;

// Whether training by it wants what is lost in one step added in the next one (error feedback):
// true of those that lose more than 16 bits can hold.
constexpr bool wants_feedback(Codec codec) noexcept { return codec >= Codec::kInt8; }

}  // namespace rota
