// Fuzzes Slurm's lists of nodes and of counts.
#include <set>

#include "cluster/sources/slurm_lists.h"
#include "cluster/specification.h"
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const std::string_view text = fuzz::text_of(data, count);
  fuzz::may_refuse([&] {
    const auto names = cluster::expand_node_list("SLURM_JOB_NODELIST", text);
    fuzz::require(!names.empty() && names.size() <= cluster::kMaxRanks, "nodes have a limit");
    const std::set<std::string> different(names.begin(), names.end());
    fuzz::require(different.size() == names.size(), "each node is there once");
    fuzz::require(!different.contains(""), "each has a name");
  });
  fuzz::may_refuse([&] {
    const auto counts = cluster::expand_counts("SLURM_TASKS_PER_NODE", text);
    fuzz::require(!counts.empty() && counts.size() <= cluster::kMaxRanks, "counts have a limit");
    for (const std::size_t tasks : counts) fuzz::require(tasks > 0, "a node has tasks");
  });
  return 0;
}
