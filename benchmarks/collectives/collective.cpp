// The table of the collectives.
#include "collectives/collective.h"

#include <algorithm>
#include <array>

namespace rota::bench {
namespace {

// How often the busiest link carries each byte, according to nccl-tests' PERFORMANCE.md.
enum class Traffic : std::uint8_t { kNone, kOnce, kTwice, kOthersParts, kOthersPartsTwice };

struct Description {
  std::string_view name;
  bool reduces;
  bool has_parts;
  bool has_root;
  Traffic traffic;
};

// Indexed by Collective.
constexpr std::array kDescriptions = {
    Description{"all-reduce", true, false, false, Traffic::kOthersPartsTwice},
    Description{"reduce", true, false, true, Traffic::kOnce},
    Description{"reduce-scatter", true, true, false, Traffic::kOthersParts},
    Description{"all-gather", false, true, false, Traffic::kOthersParts},
    Description{"gather", false, true, true, Traffic::kOthersParts},
    Description{"scatter", false, true, true, Traffic::kOthersParts},
    Description{"all-to-all", false, true, false, Traffic::kOthersParts},
    Description{"broadcast", false, false, true, Traffic::kOnce},
    Description{"ping-pong", false, false, true, Traffic::kTwice},
    Description{"barrier", false, false, false, Traffic::kNone},
};

constexpr std::array kCollectives = {
    Collective::kAllReduce, Collective::kReduce,    Collective::kReduceScatter,
    Collective::kAllGather, Collective::kGather,    Collective::kScatter,
    Collective::kAllToAll,  Collective::kBroadcast, Collective::kPingPong,
    Collective::kBarrier,
};

const Description& description_of(Collective collective) noexcept {
  return kDescriptions[static_cast<std::size_t>(collective)];
}

}  // namespace

std::span<const Collective> all_collectives() noexcept { return kCollectives; }

std::string_view to_string(Collective collective) noexcept {
  return description_of(collective).name;
}

std::optional<Collective> collective_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(
      kCollectives, name, [](Collective collective) { return description_of(collective).name; });
  return found == kCollectives.end() ? std::nullopt : std::optional(*found);
}

bool reduces(Collective collective) noexcept { return description_of(collective).reduces; }

bool has_parts(Collective collective) noexcept { return description_of(collective).has_parts; }

bool has_root(Collective collective) noexcept { return description_of(collective).has_root; }

double bus_factor(Collective collective, std::size_t ranks) noexcept {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (description_of(collective).traffic) {
    case Traffic::kOnce:
      return 1;
    case Traffic::kTwice:
      return 2;
    case Traffic::kOthersParts:
      return others;
    case Traffic::kOthersPartsTwice:
      return 2 * others;
    case Traffic::kNone:
      break;
  }
  return 0;
}

}  // namespace rota::bench
