// Which CUDA devices the ranks of a host are given, and which they see.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_share.h"

namespace rota::launcher {

// Index: local rank.
struct DevicesOfRanks {
  std::vector<std::string> given;    // As CUDA_VISIBLE_DEVICES is to be; empty: as it is.
  std::vector<std::string> visible;  // What each sees, given or not.
  std::optional<std::string> warning;
};

// How many CUDA devices may be used here: all, or those of CUDA_VISIBLE_DEVICES.
std::size_t device_count(const std::vector<std::string>& environment);

// One device for each rank of a share; or all, where there are too few or where -x names them.
DevicesOfRanks devices_of_ranks(const Options& options, const std::vector<std::string>& environment,
                                const Share& share);

}  // namespace rota::launcher
