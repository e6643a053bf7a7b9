// Asks this host for devices and ports.
#include "launcher/provision.h"

#include <algorithm>

#include <rota/error.h>

#include "launcher/devices.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kVisibleDevices = "CUDA_VISIBLE_DEVICES";
constexpr const char* kLoopback = "127.0.0.1";

void provide_devices(const Options& options, const std::vector<std::string>& environment,
                     Provision& provision, std::size_t rank_count) {
  // Whoever names it has decided.
  if (std::ranges::count(options.variables, kVisibleDevices, &Variable::name) > 0) return;
  std::vector<std::string> devices =
      is_set(environment, kVisibleDevices)
          ? parse_devices(find_variable(environment, kVisibleDevices))
          : find_devices();
  const std::size_t device_count = devices.size();
  provision.devices = deal_devices(std::move(devices), rank_count);
  if (device_count == 0 || !provision.devices.empty()) return;
  provision.warnings.push_back(
      std::to_string(rank_count) + " ranks for " + std::to_string(device_count) +
      (device_count == 1 ? " CUDA device" : " CUDA devices") + ": every rank sees all of them");
}

void provide_ports(const Options& options, Provision& provision, std::size_t rank_count) {
  std::string lack;
  try {
    provision.ports = claim_ports(options.ports, rank_count);
  } catch (const Error& error) {
    lack = std::string(": ") + error.what();
  }
  std::vector<Endpoint> endpoints;
  for (const std::uint16_t port : provision.ports.ports) endpoints.push_back({kLoopback, port});
  provision.peers = describe_peers(endpoints, rank_count);
  if (!provision.peers.list.empty()) return;
  provision.warnings.push_back(
      "TF_CONFIG" + std::string(endpoints.empty() ? ", MASTER_ADDR and MASTER_PORT are" : " is") +
      " not set: of the ports " + std::to_string(options.ports.first) + "-" +
      std::to_string(options.ports.last) + " (--ports), " + std::to_string(endpoints.size()) +
      " can be had for " + std::to_string(rank_count) + (rank_count == 1 ? " rank" : " ranks") +
      lack);
}

}  // namespace

Provision provide(const Options& options, const JobPlan& plan,
                  const std::vector<std::string>& environment) {
  const std::size_t rank_count = plan.layout.seats.size();
  Provision provision;
  provide_devices(options, environment, provision, rank_count);
  provide_ports(options, provision, rank_count);
  return provision;
}

RankContract contract_of(std::size_t rank, const JobPlan& plan, const Provision& provision) {
  const Seat& seat = plan.layout.seats[rank];
  return {.rank = rank,
          .world_size = plan.layout.seats.size(),
          .local_rank = seat.local_rank,
          .local_world_size = plan.layout.host_rank_counts[seat.host],
          .host_index = seat.host,
          .host_count = plan.layout.host_rank_counts.size(),
          .thread_count = plan.threads_per_rank,
          .device = provision.devices.empty() ? "" : provision.devices[seat.local_rank],
          .first = provision.peers.first,
          .tf_config = tf_config(provision.peers, rank)};
}

}  // namespace rota::launcher
