// Makes the rank table of a job that is declared to have other hosts.
#include "launcher/plan/show_ranks.h"

#include <rota/error.h>

#include "launcher/plan/devices.h"
#include "launcher/plan/job_scope.h"

namespace rota::launcher {
namespace {

// Returns the devices of this host only: the devices of other hosts are not known here.
KnownDevices devices_of(const DeclaredTable& declared, const Options& options,
                        const std::vector<std::string>& environment) {
  HostAssignment assignment;
  for (const std::size_t rank : declared.own_ranks) {
    assignment.ranks.push_back(rank);
    assignment.groups.push_back(group_of_rank(options.groups, rank));
  }
  std::vector<std::string> visible = devices_of_ranks(options, environment, assignment).visible;
  KnownDevices devices(declared.table.rows.size());
  for (std::size_t local = 0; local < visible.size(); ++local) {
    devices[assignment.ranks[local]] = std::move(visible[local]);
  }
  return devices;
}

}  // namespace

std::optional<ShownTable> table_of_several_hosts(const Options& options,
                                                 const cluster::Given& given,
                                                 std::size_t slot_count,
                                                 const std::vector<std::string>& environment) {
  const cluster::Specification chosen = read_given(given).chosen;
  if (!cluster::reaches_beyond_this_host(chosen)) return std::nullopt;
  require_declared_count(options, chosen);
  ShownTable shown;
  try {
    DeclaredTable declared = declared_table(options, given, chosen, slot_count);
    declared.table.tuned = options.tuned_file;
    shown.devices = devices_of(declared, options, environment);
    shown.table = std::move(declared.table);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  shown.note = note_on_slots(chosen, slot_count);
  return shown;
}

}  // namespace rota::launcher
