// Lists the ways.
#include "answers/ways.h"

#include <string>

#include "answers/horovod.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

constexpr std::size_t kAllGradients = 1024 * kMebibyte;  // One bucket has all of them.

StepOptions by(Algorithm plan, std::size_t bucket_bytes, Codec codec = Codec::kIdentity) {
  return {.plan = plan,
          .codec = codec,
          .buckets = {.first_bucket_bytes = bucket_bytes, .bucket_bytes = bucket_bytes}};
}

}  // namespace

std::vector<Way> ways_at_512() {
  constexpr std::size_t kBuckets = 16 * kMebibyte;
  return {
      {.name = "ring, one sum after the backward pass",
       .change = "",
       .options = by(Algorithm::kRing, kAllGradients)},
      {.name = "ring, buckets of 64 MiB (Horovod's way)",
       .change = "overlap",
       .from = 0,
       .options = horovod_way()},
      {.name = "ring, buckets of 16 MiB",
       .change = "buckets",
       .from = 1,
       .options = by(Algorithm::kRing, kBuckets)},
      {.name = "two-level, buckets of 16 MiB",
       .change = "plan",
       .from = 2,
       .options = by(Algorithm::kTwoLevel, kBuckets)},
      {.name = "rota's defaults: buckets of 16 MiB, after one of 64 KiB",
       .change = "the first bucket, and the plans of few bytes",
       .from = 2,
       .options = {}},
      {.name = "ring, buckets of 16 MiB as bfloat16",
       .change = "codec",
       .from = 2,
       .options = by(Algorithm::kRing, kBuckets, Codec::kBfloat16)},
  };
}

std::vector<Way> ways_at_10000() {
  constexpr std::size_t kBuckets = 64 * kMebibyte;
  return {
      {.name = "ring, one sum after the backward pass",
       .change = "",
       .options = by(Algorithm::kRing, kAllGradients)},
      {.name = "ring, buckets of 64 MiB",
       .change = "overlap",
       .from = 0,
       .options = by(Algorithm::kRing, kBuckets)},
      {.name = "halving-doubling, one sum after the backward pass",
       .change = "plan",
       .from = 0,
       .options = by(Algorithm::kHalvingDoubling, kAllGradients)},
      {.name = "halving-doubling, buckets of 64 MiB",
       .change = "overlap",
       .from = 2,
       .options = by(Algorithm::kHalvingDoubling, kBuckets)},
      {.name = "ring, buckets of 64 MiB as bfloat16",
       .change = "codec",
       .from = 1,
       .options = by(Algorithm::kRing, kBuckets, Codec::kBfloat16)},
  };
}

std::vector<double> efficiencies_of(std::span<const Way> ways, std::string_view model,
                                    const WorldModel& world) {
  std::vector<double> efficiencies;
  for (const Way& way : ways) {
    efficiencies.push_back(predicted_efficiency(std::string(model), world, way.options));
  }
  return efficiencies;
}

}  // namespace rota::bench
