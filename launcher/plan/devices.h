// Decides which CUDA devices a host has, and which of them each rank is given and sees.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_assignment.h"

namespace rota::launcher {

// Reads the text as CUDA reads CUDA_VISIBLE_DEVICES: numbers or names, up to the first word that is
// neither.
std::vector<std::string> parse_devices(std::string_view text);

// Returns the numbers that CUDA gives to the devices whose files are in `folder`.
std::vector<std::string> find_devices(const std::string& folder = "/dev");

// Returns one device for each local rank, in the form of CUDA_VISIBLE_DEVICES. Returns none if
// there are fewer devices than ranks.
std::vector<std::string> deal_devices(std::vector<std::string> devices, std::size_t rank_count);

// The index is the local rank.
struct DevicesOfRanks {
  std::vector<std::string> given;    // For CUDA_VISIBLE_DEVICES; empty: not changed.
  std::vector<std::string> visible;  // The devices that the rank sees.
  std::optional<std::string> warning;
};

// Returns how many CUDA devices may be used here: all, or those in CUDA_VISIBLE_DEVICES.
std::size_t device_count(const std::vector<std::string>& environment);

// Returns one device for each rank of the assignment. If there are too few devices, a rank sees all
// of them. If -x names devices, a rank sees these.
DevicesOfRanks devices_of_ranks(const Options& options, const std::vector<std::string>& environment,
                                const HostAssignment& assignment);

}  // namespace rota::launcher
