// Two rules make the dependencies: what is sent must have been written, and what is overwritten
// must have left.
#include "collectives/plan_builder.h"

#include <utility>

namespace rota::collectives {

PlanBuilder::PlanBuilder(const PlanRequest& request, std::vector<Slice> chunks, Empty empty)
    : empty_(empty), written_(chunks.size()), touched_(chunks.size()) {
  plan_.collective = request.collective;
  plan_.algorithm = request.algorithm;
  plan_.chunks = std::move(chunks);
}

std::size_t PlanBuilder::lane_to(std::size_t peer, bool sends) {
  for (std::size_t i = 0; i < plan_.lanes.size(); ++i) {
    if (plan_.lanes[i].peer == peer && plan_.lanes[i].sends == sends) return i;
  }
  plan_.lanes.push_back({.peer = static_cast<std::uint32_t>(peer), .sends = sends});
  lane_steps_.emplace_back();
  return plan_.lanes.size() - 1;
}

void PlanBuilder::add(std::size_t lane, Step step, Mark after) {
  if (after.lane != lane) {  // Within a lane the order is given.
    step.after_lane = after.lane;
    step.after_count = after.count;
  }
  lane_steps_[lane].push_back(step);
  const Mark now{static_cast<std::uint32_t>(lane),
                 static_cast<std::uint32_t>(lane_steps_[lane].size())};
  touched_[step.chunk] = now;
  if (step.verb != Verb::kSend) written_[step.chunk] = now;
}

// What is sent must have been written; sending twice at once is fine.
void PlanBuilder::send(std::size_t peer, std::size_t chunk) {
  if (plan_.chunks[chunk].count == 0 && empty_ == Empty::kSkip) return;
  const Step step{.verb = Verb::kSend, .chunk = static_cast<std::uint32_t>(chunk)};
  add(lane_to(peer, true), step, written_[chunk]);
}

// What is overwritten must have left. A chunk without elements has nothing to protect, but what it
// stands for still comes one after the other.
void PlanBuilder::receive(std::size_t peer, std::size_t chunk) {
  if (plan_.chunks[chunk].count == 0 && empty_ == Empty::kSkip) return;
  const Step step{.verb = Verb::kReceive, .chunk = static_cast<std::uint32_t>(chunk)};
  add(lane_to(peer, false), step,
      plan_.chunks[chunk].count > 0 ? touched_[chunk] : written_[chunk]);
}

void PlanBuilder::reduce(std::size_t peer, std::size_t chunk, bool last) {
  if (plan_.chunks[chunk].count == 0) return;
  const Step step{.verb = Verb::kReduce, .last = last, .chunk = static_cast<std::uint32_t>(chunk)};
  add(lane_to(peer, false), step, touched_[chunk]);
}

Plan PlanBuilder::build() {
  for (std::size_t i = 0; i < plan_.lanes.size(); ++i) {
    plan_.lanes[i].first_step = static_cast<std::uint32_t>(plan_.steps.size());
    plan_.lanes[i].step_count = static_cast<std::uint32_t>(lane_steps_[i].size());
    plan_.steps.insert(plan_.steps.end(), lane_steps_[i].begin(), lane_steps_[i].end());
  }
  return std::move(plan_);
}

}  // namespace rota::collectives
