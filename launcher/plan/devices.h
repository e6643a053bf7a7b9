// Which CUDA devices the ranks of a host see.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

// As CUDA reads CUDA_VISIBLE_DEVICES: numbers or names, up to the first that is none.
std::vector<std::string> parse_devices(std::string_view text);

// The numbers that CUDA gives the devices whose files are in `folder`.
std::vector<std::string> find_devices(const std::string& folder = "/dev");

// One for each local rank, as it is to be in CUDA_VISIBLE_DEVICES; empty where there are none, or
// too few.
std::vector<std::string> deal_devices(std::vector<std::string> devices, std::size_t rank_count);

}  // namespace rota::launcher
