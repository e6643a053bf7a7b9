// Finds CUDA devices, and deals them to ranks.
#include "launcher/plan/devices.h"

#include <algorithm>
#include <filesystem>

#include "base/counted.h"
#include "cluster/environment.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kVisibleDevices = "CUDA_VISIBLE_DEVICES";

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

// The devices of this host.
struct Devices {
  std::vector<std::string> all;
  bool are_named = false;  // Named by -x: the user has decided, and no device is dealt.
};

Devices read_devices(const std::vector<Variable>& variables,
                     const std::vector<std::string>& environment) {
  const auto named = std::ranges::find(variables, kVisibleDevices, &Variable::name);
  const bool are_named = named != variables.end();
  if (are_named && named->value) return {parse_devices(*named->value), true};
  const bool are_limited = cluster::is_set(environment, kVisibleDevices);
  return {are_limited ? parse_devices(cluster::find_variable(environment, kVisibleDevices))
                      : find_devices(),
          are_named};
}

std::string joined(const std::vector<std::string>& devices) {
  std::string text;
  for (const std::string& device : devices) text += (text.empty() ? "" : ",") + device;
  return text;
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
  std::error_code error;  // Without the folder, there are no devices.
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    // A container may have only nvidia3, which is device 0 there.
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

std::size_t device_count(const std::vector<std::string>& environment) {
  return read_devices({}, environment).all.size();
}

// Gives devices to ranks. If other rotaruns have ranks here too, there is no warning: the launcher
// that started them may have dealt devices to them.
DevicesOfRanks devices_of_ranks(const Options& options, const std::vector<std::string>& environment,
                                const HostAssignment& assignment) {
  const Devices here = read_devices({}, environment);
  const std::size_t rank_count = assignment.ranks.size();
  const auto dealt = deal_devices(here.all, rank_count + assignment.other_count);
  DevicesOfRanks devices;
  bool are_all_named = true;
  for (std::size_t local = 0; local < rank_count; ++local) {
    const Group& group = options.groups[assignment.groups[local]];
    const Devices own = read_devices(group.variables, environment);
    const bool is_given_one = !own.are_named && !dealt.empty();
    const std::string device = is_given_one ? dealt[assignment.earlier_count + local] : "";
    devices.given.push_back(device);
    devices.visible.push_back(is_given_one ? device : joined(own.all));
    are_all_named = are_all_named && own.are_named;
  }
  const bool is_told = are_all_named || assignment.other_count > 0 || options.share_devices;
  if (is_told || here.all.empty() || !dealt.empty()) return devices;
  devices.warning = base::counted_ranks(rank_count) + " for " +
                    base::counted(here.all.size(), "CUDA device", "CUDA devices") +
                    ": every rank sees all devices";
  return devices;
}

}  // namespace rota::launcher
