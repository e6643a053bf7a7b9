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

Devices read_devices(const std::vector<Variable>& variables,
                     const std::vector<std::string>& environment) {
  const auto named = std::ranges::find(variables, kVisibleDevices, &Variable::name);
  const bool are_named = named != variables.end();
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

// Where other rotaruns have ranks here too, whoever has started them may have dealt them devices.
void provide_devices(const Options& options, const std::vector<std::string>& environment,
                     const Share& share, Provision& provision) {
  const Devices here = read_devices({}, environment);
  const std::size_t rank_count = share.ranks.size();
  const auto dealt = deal_devices(here.all, rank_count + share.other_count);
  bool are_all_named = true;
  for (std::size_t local = 0; local < rank_count; ++local) {
    const Group& group = options.groups[share.groups[local]];
    const Devices own = read_devices(group.variables, environment);
    const bool is_given_one = !own.are_named && !dealt.empty();
    const std::string device = is_given_one ? dealt[share.earlier_count + local] : "";
    provision.devices.push_back(device);
    provision.visible_devices.push_back(is_given_one ? device : joined(own.all));
    are_all_named = are_all_named && own.are_named;
  }
  const std::size_t device_count = here.all.size();
  const bool is_told = are_all_named || share.other_count > 0;
  if (is_told || device_count == 0 || !dealt.empty()) return;
  provision.warnings.push_back(ranks_text(rank_count) + " for " + std::to_string(device_count) +
                               (device_count == 1 ? " CUDA device" : " CUDA devices") +
                               ": every rank sees all of them");
}

void provide_ports(const PortRange& range, std::size_t rank_count, Provision& provision) {
  std::string lack;
  try {
    provision.ports = claim_ports(range, rank_count + 1);
  } catch (const Error& error) {
    lack = std::string(" (") + error.what() + ")";
  }
  const std::size_t port_count = provision.ports.ports.size();
  if (port_count >= rank_count) return;
  provision.warnings.push_back("of the ports " + std::to_string(range.first) + "-" +
                               std::to_string(range.last) + " (--ports), " +
                               std::to_string(port_count) + (port_count == 1 ? " is" : " are") +
                               " free for " + ranks_text(rank_count) + lack +
                               ": TF_CONFIG needs one for each, and MASTER_PORT one");
}

}  // namespace

std::size_t device_count(const std::vector<std::string>& environment) {
  return read_devices({}, environment).all.size();
}

std::vector<std::string> visible_devices(const Options& options,
                                         const std::vector<std::string>& environment,
                                         const Share& share) {
  Provision provision;
  provide_devices(options, environment, share, provision);
  return provision.visible_devices;
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
          .tf_config = tf_config(peers, rank),
          .is_only_one = share.ranks.size() == 1};
}

}  // namespace rota::launcher
