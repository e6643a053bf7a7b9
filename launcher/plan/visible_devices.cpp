// Deals the devices of this host.
#include "launcher/plan/visible_devices.h"

#include <algorithm>

#include "cluster/environment.h"
#include "launcher/plan/devices.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kVisibleDevices = "CUDA_VISIBLE_DEVICES";

// Those of this host.
struct Devices {
  std::vector<std::string> all;
  bool are_named = false;  // By -x: whoever does that has decided, and nobody is dealt one.
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

std::size_t device_count(const std::vector<std::string>& environment) {
  return read_devices({}, environment).all.size();
}

// Where other rotaruns have ranks here too, whoever has started them may have dealt them devices.
DevicesOfRanks devices_of_ranks(const Options& options, const std::vector<std::string>& environment,
                                const Share& share) {
  const Devices here = read_devices({}, environment);
  const std::size_t rank_count = share.ranks.size();
  const auto dealt = deal_devices(here.all, rank_count + share.other_count);
  DevicesOfRanks devices;
  bool are_all_named = true;
  for (std::size_t local = 0; local < rank_count; ++local) {
    const Group& group = options.groups[share.groups[local]];
    const Devices own = read_devices(group.variables, environment);
    const bool is_given_one = !own.are_named && !dealt.empty();
    const std::string device = is_given_one ? dealt[share.earlier_count + local] : "";
    devices.given.push_back(device);
    devices.visible.push_back(is_given_one ? device : joined(own.all));
    are_all_named = are_all_named && own.are_named;
  }
  const bool is_told = are_all_named || share.other_count > 0;
  if (is_told || here.all.empty() || !dealt.empty()) return devices;
  devices.warning = std::to_string(rank_count) + (rank_count == 1 ? " rank for " : " ranks for ") +
                    std::to_string(here.all.size()) +
                    (here.all.size() == 1 ? " CUDA device" : " CUDA devices") +
                    ": every rank sees all of them";
  return devices;
}

}  // namespace rota::launcher
