// Adds up the messages of plans.
#include "predict/cables.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rota::bench {
namespace {

using collectives::Lane;
using collectives::Plan;

// Index = the first rank of a host.
struct CableBytes {
  std::vector<std::size_t> leaving;
  std::vector<std::size_t> arriving;
};

std::size_t bytes_of_lane(const Plan& plan, const Lane& lane) {
  std::size_t count = 0;
  for (std::uint32_t step = 0; step < lane.step_count; ++step) {
    count += plan.steps[lane.first_step + step].at.slice.count;
  }
  return count * sizeof(float);
}

void add_messages(const WorldModel& model, const Plan& plan, std::size_t rank, CableBytes& cables) {
  for (const Lane& lane : plan.lanes) {
    const std::size_t from = model.hosts[rank];
    const std::size_t to = model.hosts[lane.peer];
    if (lane.kind != Lane::Kind::kSends || from == to) continue;
    const std::size_t bytes = bytes_of_lane(plan, lane);
    cables.leaving[from] += bytes;
    cables.arriving[to] += bytes;
  }
}

}  // namespace

double busiest_cable_seconds(const WorldModel& model, std::span<const Call> calls) {
  const std::size_t world_size = model.hosts.size();
  CableBytes cables{.leaving = std::vector<std::size_t>(world_size),
                    .arriving = std::vector<std::size_t>(world_size)};
  for (const Call& call : calls) {
    const PlannedCall planned = plan_call(model, call, world_size);
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      add_messages(model, planned.plans[rank], rank, cables);
    }
  }
  const std::size_t most =
      std::max(std::ranges::max(cables.leaving), std::ranges::max(cables.arriving));
  return static_cast<double>(most) * model.between_hosts.seconds_per_byte;
}

}  // namespace rota::bench
