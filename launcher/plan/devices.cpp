// Reads, counts and deals CUDA devices.
#include "launcher/plan/devices.h"

#include <algorithm>
#include <filesystem>

namespace rota::launcher {
namespace {

bool is_device_file(std::string_view name) {
  constexpr std::string_view kStem = "nvidia";
  return name.starts_with(kStem) && name.size() > kStem.size() &&
         name.find_first_not_of("0123456789", kStem.size()) == std::string_view::npos;
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = text.find_last_not_of(' ');
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

}  // namespace

std::vector<std::string> parse_devices(std::string_view text) {
  std::vector<std::string> devices;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view device = without_spaces(text.substr(0, end));
    const bool is_number = device.find_first_not_of("0123456789") == std::string_view::npos;
    const bool is_name = device.starts_with("GPU-") || device.starts_with("MIG-");
    if (device.empty() || (!is_number && !is_name)) break;
    devices.emplace_back(device);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return devices;
}

std::vector<std::string> find_devices(const std::string& folder) {
  std::vector<std::string> devices;
  std::error_code error;  // Without the folder there are none.
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    // A container may have nvidia3 alone, which is device 0 there.
    if (is_device_file(entry->path().filename().native())) {
      devices.push_back(std::to_string(devices.size()));
    }
  }
  return devices;
}

std::vector<std::string> deal_devices(std::vector<std::string> devices, std::size_t rank_count) {
  if (devices.size() < rank_count) return {};
  devices.resize(rank_count);
  return devices;
}

}  // namespace rota::launcher
