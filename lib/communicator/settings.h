// What the options of a communicator ask for, found to exist.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <rota/codec.h>
#include <rota/options.h>

#include "collectives/plan.h"
#include "communicator/group.h"
#include "kernels/codings.h"
#include "kernels/reductions.h"

namespace rota {

// Made before any other rank is met.
struct Settings {
  // Throws Error kInvalidArgument for a plan or kernels that do not exist, and for a plan that does
  // not go with the codec.
  explicit Settings(const CommunicatorOptions& options);
  Settings with_plan(const std::string& plan) const;

  // For a group. Throws Error kInvalidArgument for a plan that its ranks cannot run.
  Settings in(const Group& group) const;

  std::optional<collectives::Algorithm> all_reduce;  // None: chosen call by call.
  Codec codec;
  std::uint64_t codec_seed;
  const kernels::Reductions* reductions;
  const kernels::Codings* codings;

 private:
  void check_codec_of(const std::string& plan) const;
};

}  // namespace rota
