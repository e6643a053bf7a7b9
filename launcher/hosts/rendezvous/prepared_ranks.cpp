// Prepares the ranks of this host before they start: takes ports, chooses cores, and makes or opens
// shared memory.
#include "launcher/hosts/rendezvous/prepared_ranks.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "base/transports.h"
#include "launcher/plan/file_need.h"
#include "launcher/plan/machine_cores.h"
#include "launcher/ranks/heartbeat.h"
#include "os/listener.h"
#include "os/patient_listener.h"
#include "os/shared_mapping.h"

namespace rota::launcher {
namespace {

// Listens at `count` free ports of the range. Skips the first port of the range: it belongs to the
// leader's launcher, whichever host leads.
std::vector<os::Listener> listen_in(const PortRange& ports, const std::string& address,
                                    std::size_t count) {
  std::vector<os::Listener> listeners;
  os::PassedPorts passed;
  for (unsigned next = ports.first + 1U; listeners.size() < count;) {
    auto listener = os::listen_between(with_brackets(address) + ":0", next, ports.last, passed);
    if (!listener) break;
    next = os::parse_address(listener->address).port() + 1U;
    listeners.push_back(*std::move(listener));
  }
  if (listeners.size() == count) return listeners;
  const std::string text = "the ports " + std::to_string(ports.first + 1) + " to " +
                           std::to_string(ports.last) + " of " + address + " have room for " +
                           std::to_string(listeners.size()) + " of the " + std::to_string(count) +
                           " ranks of this host" +
                           (passed.trouble.empty() ? "" : " (last error: " + passed.trouble + ")") +
                           ": give other ports with --ports";
  if (passed.is_in_use) throw os::AddressInUse(text);
  throw Error(ErrorCode::kSystem, text);
}

// Waits for ports that the ranks of a killed job still hold. The wait is short, because this host
// hears nothing meanwhile.
std::vector<os::Listener> listen_for_ranks(const HostSetup& setup, const std::string& address,
                                           std::size_t count,
                                           const LocalRanks::ShowLife& beat_all) {
  constexpr std::chrono::seconds kHeldByRanks{2};
  const auto listen = [&] {
    beat_all();
    return listen_in(setup.options.ports, address, count);
  };
  auto listeners = os::listen_patiently(listen, setup.signals, kHeldByRanks);
  return listeners ? *std::move(listeners) : listen();
}

void require_groups(const HostAssignment& assignment, const Options& options) {
  const auto is_here = [&](std::size_t group) { return group < options.groups.size(); };
  if (std::ranges::all_of(assignment.groups, is_here) &&
      std::ranges::all_of(assignment.evaluators, is_here))
    return;
  throw UsageError("host 0 has more programs on its command line than this host, which has " +
                   std::to_string(options.groups.size()) + ": give the same command on every host");
}

std::vector<os::Fd> open_arenas(const std::vector<std::string>& paths) {
  std::vector<os::Fd> arenas;
  try {
    for (const std::string& path : paths) arenas.push_back(os::open_shared_memory(path));
  } catch (const Error& error) {
    throw Error(
        error.code(),
        std::string(error.what()) +
            ": the ranks of this machine share memory there; --transport tcp does not need it");
  }
  return arenas;
}

// Makes the descriptors that the ranks get. A rank that is alone on its machine has no rank to
// share memory with.
DescriptorHandoff make_handoff(const HostSetup& setup, const HostAssignment& assignment,
                               std::vector<os::Listener> listeners) {
  DescriptorHandoff handoff = base::listens(assignment.transport)
                                  ? DescriptorHandoff::of_listeners(std::move(listeners))
                                  : DescriptorHandoff(assignment.ranks.size());
  if (!assignment.arenas.empty()) {
    handoff.add_arenas(open_arenas(assignment.arenas));
  } else if (base::sharing_over(assignment.transport) != base::Sharing::kNone &&
             assignment.ranks.size() > 1) {
    handoff.add_arenas(size_arena(setup.facts, assignment.ranks.size()));
  }
  return handoff;
}

}  // namespace

PreparedRanks prepare_ranks(const HostSetup& setup, HostAssignment assignment,
                            const std::string& address, const LocalRanks::ShowLife& show_life) {
  const auto beat_all = [&] {
    beat();
    show_life();
  };
  require_groups(assignment, setup.options);
  const Slots slots = slots_of(setup.options, setup.facts);
  const std::size_t count = assignment.ranks.size();
  const Binding binding = binding_rules(setup.options);
  const std::size_t count_here = count + assignment.other_count;
  std::vector<Core> cores;
  if (binding.bind_to != BindTo::kNone && count > 0) {
    // A host may declare slots for which it has no CPUs.
    if (slots.count == 0) throw UsageError(lack_of_slots(*binding.cpus_per_rank, slots));
    beat_all();
    cores = limit_cores(read_topology(setup.facts.allowed_cpus), slots.cpu_count);
  }
  if (count > 0) {
    const std::vector<Cpus> places = place_ranks(cores, count_here, binding);
    const auto own = places.begin() + static_cast<std::ptrdiff_t>(assignment.earlier_count);
    assignment.places.assign(own, own + static_cast<std::ptrdiff_t>(count));
  }
  const bool listens = base::listens(assignment.transport);
  std::vector<os::Listener> listeners =
      listen_for_ranks(setup, address, listens ? count : 0, beat_all);
  PreparedRanks prepared{.assignment = std::move(assignment),
                         .endpoints = {.may_spin = count_here <= slots.cpu_count},
                         .handoff = DescriptorHandoff(count),
                         .provision = {}};
  beat_all();
  prepared.provision =
      provide(setup.options, setup.context.environment, prepared.assignment, slots.cpu_count);
  if (os::own_addresses().size() > 1) prepared.provision.address = address;
  const std::string lack =
      lack_of_files(files_needed(prepared.assignment, setup.options), setup.facts.open_files);
  if (!lack.empty()) prepared.provision.warnings.push_back(lack);
  const std::string cpu_lack = lack_of_cpu(count_here, setup.facts.cpu_quota, setup.facts.is_pod);
  if (!cpu_lack.empty()) prepared.provision.warnings.push_back(cpu_lack);
  for (std::size_t local = 0; local < count; ++local) {
    prepared.endpoints.addresses.push_back(listens ? listeners[local].address : "");
    prepared.endpoints.cores.push_back(to_text(prepared.assignment.places[local]));
  }
  prepared.endpoints.devices = prepared.provision.visible_devices;
  prepared.endpoints.free = {.address = address, .ports = prepared.provision.ports.ports};
  prepared.handoff = make_handoff(setup, prepared.assignment, std::move(listeners));
  return prepared;
}

}  // namespace rota::launcher
