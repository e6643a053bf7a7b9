// The rank table of a job that is declared to reach beyond this host: it is shown, although nothing
// may have been started from it.
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
  std::string note{};      // What was taken for granted.
};

// Nothing where this host is alone: then the plan of the job has the table. `slot_count` is that of
// each host that declares none. Throws SpecificationError, and UsageError where what is declared is
// not enough for a table, or the options do not go with it.
std::optional<ShownTable> table_of_several_hosts(const Options& options,
                                                 const cluster::Given& given,
                                                 std::size_t slot_count,
                                                 const std::vector<std::string>& environment);

}  // namespace rota::launcher
