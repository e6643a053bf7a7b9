// How many ranks have a CPU to themselves here: what the affinity mask and the control group grant,
// not what the hardware has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::launcher {

struct Slots {
  std::size_t count = 1;      // 0: not even one has all the CPUs that it is to have.
  std::size_t cpu_count = 1;  // As granted.
  std::string reason;         // "2 CPUs allowed, a quota of 1.5"
  bool is_limited_by_quota = false;
};

// The ranks that somebody declares for this host, and who does.
struct DeclaredRanks {
  std::optional<std::size_t> count{};
  std::optional<std::size_t> most{};  // That it may have.
  std::string source{};
};

// A fractional quota rounds down, to 1 CPU at least.
Slots count_slots(std::size_t allowed_cpu_count, std::optional<double> quota,
                  std::size_t cpus_per_rank = 1);

// Empty where the quota grants each of the ranks here a CPU; else what to raise, which in a pod is
// a field of its manifest.
std::string lack_of_cpu(std::size_t rank_count, std::optional<double> quota, bool is_pod);

// The size of one rank's arena, which costs nothing before it is used: what memory there is, in
// whole GiB, up to 64. Where pointers have 32 bits, all ranks' arenas share 1 GiB of addresses.
std::size_t arena_bytes(std::uint64_t memory_bytes, std::size_t rank_count, bool is_64_bit);

}  // namespace rota::launcher
