// The rank table of a job that is declared to reach beyond this host.
#include "launcher/show_ranks.h"

#include <algorithm>

#include <rota/error.h>

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

}  // namespace

std::optional<ShownTable> table_of_several_hosts(const Options& options,
                                                 const cluster::Given& given,
                                                 std::size_t slot_count) {
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
    shown.table = cluster::make_table(chosen, slot_count);
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
