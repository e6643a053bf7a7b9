// Ways to sum gradients, one change after another, so that a page can say how much overlap,
// buckets, plan and codec are worth in a large world.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "predict/step.h"

namespace rota::bench {

inline constexpr std::size_t kMebibyte = std::size_t{1} << 20;

struct Way {
  std::string_view name;              // For people: "ring, buckets of 64 MiB".
  std::string_view change;            // What differs from the way `from`: "overlap".
  std::optional<std::size_t> from{};  // An index in the same list, before this way.
  StepOptions options;
};

// Return the ways for 512 GPUs on 128 hosts, and for 10,000 GPUs on as many hosts.
std::vector<Way> ways_at_512();
std::vector<Way> ways_at_10000();

// Returns the predicted efficiency of each way.
std::vector<double> efficiencies_of(std::span<const Way> ways, std::string_view model,
                                    const WorldModel& world);

}  // namespace rota::bench
