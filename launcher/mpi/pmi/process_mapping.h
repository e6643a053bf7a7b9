// Writes which ranks share a machine as the value of PMI_process_mapping, from which MPICH learns
// who shares memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rota::launcher {

// Returns a text such as "(vector,(0,2,4))": two nodes from node 0 on have four ranks each. The
// blocks repeat until all ranks have a node. `nodes`: the node of each rank.
std::string process_mapping_of(std::span<const std::uint32_t> nodes);

}  // namespace rota::launcher
