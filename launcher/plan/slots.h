// Counts how many ranks can have a CPU of their own here: by the affinity mask and the control
// group, not by the hardware.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::launcher {

struct Slots {
  std::size_t count = 1;      // 0: too few CPUs for one rank.
  std::size_t cpu_count = 1;  // CPUs that are granted.
  std::string reason;         // "2 CPUs allowed, a quota of 1.5"
  bool is_limited_by_quota = false;
};

// The ranks that a source declares for this host, and the source.
struct DeclaredRanks {
  std::optional<std::size_t> count{};
  std::optional<std::size_t> most{};  // The upper limit.
  std::string source{};
};

// Counts the slots. A fractional quota is rounded down, but to 1 CPU at least.
Slots count_slots(std::size_t allowed_cpu_count, std::optional<double> quota,
                  std::size_t cpus_per_rank = 1);

// Returns that this host, which counts no slot, has too few CPUs for a rank.
std::string lack_of_slots(std::size_t cpus_per_rank, const Slots& slots);

// Returns nothing if the quota grants a CPU to each of the ranks here. Otherwise the text says what
// to raise; in a pod, that is a field of its manifest.
std::string lack_of_cpu(std::size_t rank_count, std::optional<double> quota, bool is_pod);

}  // namespace rota::launcher
