// Which CUDA devices a host has, and which of them its ranks are given and see.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_share.h"

namespace rota::launcher {

// As CUDA reads CUDA_VISIBLE_DEVICES: numbers or names, up to the first that is none.
std::vector<std::string> parse_devices(std::string_view text);

// The numbers that CUDA gives the devices whose files are in `folder`.
std::vector<std::string> find_devices(const std::string& folder = "/dev");

// One for each local rank, as it is to be in CUDA_VISIBLE_DEVICES; empty where there are none, or
// too few.
std::vector<std::string> deal_devices(std::vector<std::string> devices, std::size_t rank_count);

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
