// Finds plans and kernels by their names, and refuses combinations that are not possible.
#include "communicator/settings.h"

#include <algorithm>
#include <string>

#include <rota/error.h>

#include "base/transports.h"
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
                  "tree, two-level, star, shared-memory, mpi or nccl");
}

bool runs(const Group& group, Algorithm algorithm) {
  return std::ranges::any_of(group.methods,
                             [&](const auto& each) { return each->makes(algorithm); });
}

// Returns why the ranks of a group cannot run the collectives of a library that was asked for.
std::string refusal_of(Algorithm library, const Group& group) {
  if (library != Algorithm::kMpi) {
    return " must be in the options of the communicator that this one is made from: take auto";
  }
  const std::string& transport = group.table.transport;
  if (transport == base::kOverMpi) {
    return " serves only the communicator of all processes: MPI's collectives know neither the "
           "groups of split() nor the threads of for_threads(): take auto";
  }
  return " needs ranks whose messages go over MPI, but these use " + transport +
         ": take auto, or make the communicator with rota::mpi::communicator";
}

[[noreturn]] void refuse_library(Algorithm library, const Group& group) {
  throw Error(ErrorCode::kInvalidArgument,
              "the plan " + std::string(to_string(library)) + refusal_of(library, group));
}

}  // namespace

Settings::Settings(const CommunicatorOptions& options)
    : all_reduce(all_reduce_from(options.plan)),
      codec(options.codec),
      codec_seed(options.codec_seed),
      kernels(options.kernels),
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

Settings Settings::for_part(const Group& group) const {
  Settings settings = *this;
  const bool is_of_library = all_reduce && collectives::is_of_library(*all_reduce);
  if (is_of_library && !runs(group, *all_reduce)) settings.all_reduce.reset();
  return settings;
}

Settings Settings::in(const Group& group) const {
  Settings settings = *this;
  const bool is_of_library = all_reduce && collectives::is_of_library(*all_reduce);
  if (!is_of_library && all_reduce != Algorithm::kShared) return settings;
  if (is_of_library && runs(group, *all_reduce)) return settings;
  if (group.world_size() == 1) {
    settings.all_reduce.reset();
  } else if (is_of_library) {
    refuse_library(*all_reduce, group);
  } else if (!group.transport->shared_memory()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the plan shared-memory needs ranks that all share memory, but these use " +
                    group.table.transport + ": take auto");
  }
  return settings;
}

void Settings::check_codec_of(const std::string& plan) const {
  if (codec == Codec::kIdentity || all_reduce.value_or(Algorithm::kRing) == Algorithm::kRing) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "values with the codec " + std::string(to_string(codec)) +
                  " go along the ring: take plan auto or ring, not " + plan);
}

}  // namespace rota
