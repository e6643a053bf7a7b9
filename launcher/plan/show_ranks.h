// Makes the rank table of a job that is declared to have other hosts. The table can be shown before
// anything has been started.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <rota/rank_table.h>

#include "cluster/reading.h"
#include "launcher/command/options.h"
#include "launcher/plan/table_json.h"

namespace rota::launcher {

struct ShownTable {
  RankTable table;
  KnownDevices devices{};  // Of the ranks that are on this host.
  std::string note{};      // What the table assumes.
};

// Returns nothing if this host is alone: then the plan of the job has the table. `slot_count` is
// the number of slots of each host that declares none. Throws SpecificationError. Throws UsageError
// if the declaration is not enough for a table, or does not fit the options.
std::optional<ShownTable> table_of_several_hosts(const Options& options,
                                                 const cluster::Given& given,
                                                 std::size_t slot_count,
                                                 const std::vector<std::string>& environment);

}  // namespace rota::launcher
