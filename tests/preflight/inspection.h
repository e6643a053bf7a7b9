// Has the facts of three hosts without a fault. Tests add faults.
#pragma once
#include <string>

#include "launcher/preflight/judgement.h"

namespace rota::preflight {

inline Host host_of(const std::string& name) {
  return {.name = name,
          .address = name + ":7701",
          .facts = {.version = "1.2.3",
                    .architecture = "x86_64",
                    .kernels = "avx2",
                    .program = "/opt/train",
                    .program_bytes = 4711,
                    .program_sha256 = std::string(64, 'a'),
                    .slot_count = 2,
                    .cpus = "2 CPUs allowed, no quota",
                    .memory_bytes = std::uint64_t{8} << 30,
                    .locked_memory_bytes = 64 * 1024,
                    .shared_memory_bytes = std::uint64_t{1} << 30,
                    .open_files = {.soft = 1024, .hard = 4096},
                    .free_port_count = 100}};
}

inline Inspection fine_inspection() {
  Inspection inspection{.hosts = {host_of("a"), host_of("b"), host_of("c")}};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    inspection.edges.push_back(
        {.from = rank, .to = (rank + 1) % 3, .latency = 40e-6, .bandwidth = 1.25e9});
  }
  return inspection;
}

}  // namespace rota::preflight
