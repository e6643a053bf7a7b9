// The options of a communicator after they were checked.
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

// A rank makes its Settings before it connects to any other rank.
struct Settings {
  // Throws Error kInvalidArgument for a plan or kernels that do not exist, and for a plan that
  // cannot be used with the codec.
  explicit Settings(const CommunicatorOptions& options);
  Settings with_plan(const std::string& plan) const;

  // Returns the settings for a group that split() makes and that is not asked for a plan of its
  // own: some libraries of collectives serve only the first group.
  Settings for_part(const Group& group) const;

  // Returns the settings in a group. Throws Error kInvalidArgument for a plan that the group's
  // ranks cannot run.
  Settings in(const Group& group) const;

  std::optional<collectives::Algorithm> all_reduce;  // Empty: chosen for each call.
  Codec codec;
  std::uint64_t codec_seed;
  std::string kernels;  // As in the options.
  const kernels::Reductions* reductions;
  const kernels::Codings* codings;

 private:
  void check_codec_of(const std::string& plan) const;
};

}  // namespace rota
