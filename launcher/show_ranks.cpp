// The rank table of a job that is declared to reach beyond this host.
#include "launcher/show_ranks.h"

#include <algorithm>

#include <rota/error.h>

#include "launcher/provision.h"
#include "launcher/reach.h"

namespace rota::launcher {
namespace {

cluster::Specification read_given(const cluster::Given& given) {
  try {
    return cluster::read(given).chosen;
  } catch (const Error& error) {
    throw SpecificationError(error.what());
  }
}

bool has_undeclared_slots(const cluster::Specification& chosen) {
  return std::ranges::any_of(chosen.hosts, [](const cluster::Host& host) {
    return cluster::is_in_ring(host.role) && !host.slots;
  });
}

// Of the own host alone: what the others have is not known here.
KnownDevices devices_of(const cluster::Specification& chosen, std::size_t slot_count,
                        const Options& options, const std::vector<std::string>& environment) {
  const std::vector<std::size_t> slots = cluster::slots_of(chosen, slot_count);
  KnownDevices devices;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    const std::size_t first = devices.size();
    devices.resize(first + slots[host]);
    if (chosen.own_host != host) continue;
    Share share;
    for (std::size_t rank = first; rank < devices.size(); ++rank) {
      share.ranks.push_back(rank);
      share.groups.push_back(group_of_rank(options.groups, rank));
    }
    std::ranges::move(visible_devices(options, environment, share),
                      devices.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return devices;
}

}  // namespace

std::optional<ShownTable> table_of_several_hosts(const Options& options,
                                                 const cluster::Given& given,
                                                 std::size_t slot_count,
                                                 const std::vector<std::string>& environment) {
  cluster::Specification chosen = read_given(given);
  if (!cluster::reaches_beyond_this_host(chosen)) return std::nullopt;
  if (options.rank_count && chosen.world_size.value_or(*options.rank_count) != options.rank_count) {
    throw SpecificationError("--np is " + std::to_string(*options.rank_count) + ", and " +
                             chosen.source + " says " + cluster::to_text(chosen) +
                             ": leave out the one that is wrong");
  }
  if (options.rank_count) chosen.world_size = options.rank_count;
  ShownTable shown;
  try {
    shown.table = declared_table(options, chosen, slot_count);
    shown.table.tuned = options.tuned_file;
    shown.devices = devices_of(chosen, slot_count, options, environment);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  if (!chosen.world_size && has_undeclared_slots(chosen)) {
    shown.note = "note: where no slots are declared, they are taken to be as many as here, " +
                 std::to_string(slot_count);
  }
  return shown;
}

}  // namespace rota::launcher
