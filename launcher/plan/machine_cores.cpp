// Reads the machine's cores with hwloc.
#include "launcher/plan/machine_cores.h"

#include <hwloc.h>

#include <memory>

#include <rota/error.h>

namespace rota::launcher {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
struct BitmapDeleter {
  void operator()(hwloc_bitmap_s* bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

void require(bool is_good, const char* what) {
  if (!is_good) throw Error(ErrorCode::kSystem, std::string("hwloc cannot ") + what);
}

Topology load() {
  hwloc_topology_t raw = nullptr;
  require(hwloc_topology_init(&raw) == 0, "start");
  Topology topology(raw);
  // Only cores and NUMA nodes are needed; caches and devices would cost time.
  require(hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
              hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0,
          "select the objects to read");
  require(hwloc_topology_load(raw) == 0, "read the machine's topology");
  return topology;
}

void add_core(hwloc_const_bitmap_t cpuset, const hwloc_obj* node, std::vector<Core>& cores) {
  Core core;
  int cpu = hwloc_bitmap_first(cpuset);
  for (; cpu >= 0; cpu = hwloc_bitmap_next(cpuset, cpu)) core.cpus.push_back(cpu);
  if (node) core.numa_node = static_cast<int>(node->os_index);
  if (!core.cpus.empty()) cores.push_back(std::move(core));
}

hwloc_obj_t node_of(hwloc_topology_t topology, hwloc_const_bitmap_t cpuset) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (hwloc_bitmap_intersects(node->cpuset, cpuset)) return node;
  }
  return nullptr;
}

}  // namespace

std::vector<Core> read_topology(const std::vector<int>& allowed_cpus) {
  const Topology topology = load();
  const Bitmap allowed(hwloc_bitmap_alloc());
  const Bitmap of_core(hwloc_bitmap_alloc());
  require(allowed && of_core, "allocate memory");
  for (const int cpu : allowed_cpus) {
    require(hwloc_bitmap_set(allowed.get(), static_cast<unsigned>(cpu)) == 0, "allocate memory");
  }
  std::vector<Core> cores;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr) {
    require(hwloc_bitmap_and(of_core.get(), core->cpuset, allowed.get()) == 0, "allocate memory");
    add_core(of_core.get(), node_of(topology.get(), core->cpuset), cores);
  }
  if (!cores.empty()) return cores;
  for (const int cpu : allowed_cpus) cores.push_back({{cpu}, 0});  // hwloc found no core.
  return cores;
}

}  // namespace rota::launcher
