// Asks this host for devices and ports.
#include "launcher/provision.h"

#include <algorithm>

#include <rota/error.h>

#include "launcher/devices.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kVisibleDevices = "CUDA_VISIBLE_DEVICES";

std::string ranks_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

// Those of this host.
struct Devices {
  std::vector<std::string> all;
  bool are_named = false;  // By -x: whoever does that has decided, and nobody is dealt one.
};

Devices read_devices(const Options& options, const std::vector<std::string>& environment) {
  const auto named = std::ranges::find(options.variables, kVisibleDevices, &Variable::name);
  const bool are_named = named != options.variables.end();
  if (are_named && named->value) return {parse_devices(*named->value), true};
  const bool are_limited = is_set(environment, kVisibleDevices);
  return {are_limited ? parse_devices(find_variable(environment, kVisibleDevices)) : find_devices(),
          are_named};
}

std::string joined(const std::vector<std::string>& devices) {
  std::string text;
  for (const std::string& device : devices) text += (text.empty() ? "" : ",") + device;
  return text;
}

// What each rank sees that is not given one of `dealt`.
std::vector<std::string> seen(const Devices& devices, const std::vector<std::string>& dealt,
                              std::size_t rank_count) {
  if (!dealt.empty()) return dealt;
  return std::vector<std::string>(rank_count, joined(devices.all));
}

std::vector<std::string> deal(const Devices& devices, std::size_t rank_count) {
  return devices.are_named ? std::vector<std::string>() : deal_devices(devices.all, rank_count);
}

// Where other rotaruns have ranks here too, whoever has started them may have dealt them devices.
void provide_devices(const Options& options, const std::vector<std::string>& environment,
                     const Share& share, Provision& provision) {
  const Devices devices = read_devices(options, environment);
  const std::size_t rank_count = share.ranks.size();
  const auto own = [&](const std::vector<std::string>& of_all) {
    const auto begin = of_all.begin() + static_cast<std::ptrdiff_t>(share.earlier_count);
    return std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(rank_count));
  };
  const auto dealt = deal(devices, rank_count + share.other_count);
  if (!dealt.empty()) provision.devices = own(dealt);
  provision.visible_devices = seen(devices, provision.devices, rank_count);
  const std::size_t device_count = devices.all.size();
  const bool is_told = devices.are_named || share.other_count > 0;
  if (is_told || device_count == 0 || !provision.devices.empty()) return;
  provision.warnings.push_back(ranks_text(rank_count) + " for " + std::to_string(device_count) +
                               (device_count == 1 ? " CUDA device" : " CUDA devices") +
                               ": every rank sees all of them");
}

void provide_ports(const PortRange& range, std::size_t rank_count, Provision& provision) {
  std::string lack;
  try {
    provision.ports = claim_ports(range, rank_count);
  } catch (const Error& error) {
    lack = std::string(" (") + error.what() + ")";
  }
  const std::size_t port_count = provision.ports.ports.size();
  if (port_count == rank_count) return;
  provision.warnings.push_back("of the ports " + std::to_string(range.first) + "-" +
                               std::to_string(range.last) + " (--ports), " +
                               std::to_string(port_count) + (port_count == 1 ? " is" : " are") +
                               " free for " + ranks_text(rank_count) + lack +
                               ": TF_CONFIG needs one for each, and MASTER_PORT one");
}

}  // namespace

std::vector<std::string> visible_devices(const Options& options,
                                         const std::vector<std::string>& environment,
                                         std::size_t rank_count) {
  const Devices devices = read_devices(options, environment);
  return seen(devices, deal(devices, rank_count), rank_count);
}

Provision provide(const Options& options, const std::vector<std::string>& environment,
                  const Share& share, std::size_t cpu_count) {
  const std::size_t rank_count = share.ranks.size();
  Provision provision;
  provide_devices(options, environment, share, provision);
  provide_ports(options.ports, rank_count, provision);
  provision.thread_count = options.cpus_per_rank.value_or(std::max<std::size_t>(
      1, cpu_count / std::max<std::size_t>(1, rank_count + share.other_count)));
  return provision;
}

RankContract contract_of(const Share& share, std::size_t local_rank, const Peers& peers,
                         const Provision& provision) {
  const std::size_t rank = share.ranks[local_rank];
  return {.rank = rank,
          .world_size = share.world_size,
          .local_rank = share.earlier_count + local_rank,
          .local_world_size = share.ranks.size() + share.other_count,
          .host_index = share.host_index,
          .host_count = share.host_count,
          .thread_count = provision.thread_count,
          .device = provision.devices.empty() ? "" : provision.devices[local_rank],
          .first = peers.first,
          .tf_config = tf_config(peers, rank)};
}

}  // namespace rota::launcher
