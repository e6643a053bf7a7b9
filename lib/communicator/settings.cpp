// Looks plans and kernels up by their names, and refuses what does not go together.
#include "communicator/settings.h"

#include <rota/error.h>

#include "kernels/variant.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;

std::optional<Algorithm> all_reduce_from(const std::string& plan) {
  if (plan == "auto") return std::nullopt;
  const auto algorithm = collectives::algorithm_named(plan);
  if (algorithm && makes(*algorithm, Collective::kAllReduce)) return algorithm;
  throw Error(ErrorCode::kInvalidArgument,
              "there is no plan '" + plan +
                  "' for an all-reduce: take auto, ring, direct, hub, by-host, halving-doubling, "
                  "tree, two-level, star or shared-memory");
}

}  // namespace

Settings::Settings(const CommunicatorOptions& options)
    : all_reduce(all_reduce_from(options.plan)),
      codec(options.codec),
      codec_seed(options.codec_seed),
      reductions(&kernels::select<kernels::Reductions>(options.kernels)),
      codings(&kernels::select<kernels::Codings>(options.kernels)) {
  check_codec_of(options.plan);
}

Settings Settings::with_plan(const std::string& plan) const {
  Settings settings = *this;
  settings.all_reduce = all_reduce_from(plan);
  settings.check_codec_of(plan);
  return settings;
}

Settings Settings::in(const Group& group) const {
  Settings settings = *this;
  if (all_reduce != Algorithm::kShared) return settings;
  if (group.world_size() == 1) {
    settings.all_reduce.reset();
  } else if (!group.transport->shared_memory()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the plan shared-memory takes ranks that all share memory, and these go over " +
                    group.table.transport + ": take auto");
  }
  return settings;
}

void Settings::check_codec_of(const std::string& plan) const {
  if (codec == Codec::kIdentity || all_reduce.value_or(Algorithm::kRing) == Algorithm::kRing) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "what is coded as " + std::string(to_string(codec)) +
                  " goes along the ring: take plan auto or ring, not " + plan);
}

}  // namespace rota
