// Ranks take turns in a random order. The simulated time advances by one tick when every rank has
// had its turns.
#include "testing/sim_world.h"

#include <algorithm>
#include <numeric>

namespace rota::testing {

SimWorld::SimWorld(const SimWorldOptions& options)
    : options_(options),
      random_(options.seed),
      network_({.world_size = options.world_size,
                .seed = options.seed + 1,
                .max_delay = options.max_delay,
                .short_writes = options.short_writes}),
      memory_(options.world_size),
      channels_(options.world_size),
      operations_(options.world_size),
      planned_(options.world_size),
      errors_(options.world_size),
      started_(options.world_size),
      gone_(options.world_size) {
  for (auto& channels : channels_) {
    channels.resize(options.world_size);
    runs_.push_back(std::make_unique<collectives::PlanRun>(channels));
  }
}

void SimWorld::start(std::size_t rank, const collectives::PlanRequest& request,
                     const Reduction& reduction, DataType type) {
  collectives::PlanRequest own = request;
  own.rank = rank;
  own.world_size = options_.world_size;
  own.type = type;
  own.reduction = reduction;
  const collectives::Reducer reducer(kernels::reference<kernels::Reductions>(), type, reduction,
                                     options_.world_size);
  own.pre_scales = collectives::reduces(own.collective) && reducer.needs_pre_scale();
  planned_[rank] = std::make_unique<collectives::PlannedCollective>(
      collectives::PlannedCollective{.call = own,
                                     .signature = {own, rank},
                                     .plan = collectives::make_plan(own),
                                     .reducer = reducer});
  for (const collectives::Lane& lane : planned_[rank]->plan.lanes) {
    if (is_local(lane.kind)) continue;
    channels_[rank][lane.peer] = &network_.channel(rank, lane.peer);
  }
  auto& memory = memory_[rank];
  memory[2].resize(planned_[rank]->plan.scratch_count * bytes_of(type));
  operations_[rank] = {.planned = planned_[rank].get(),
                       .sequence = 1,
                       .buffers = {memory[0].data(), memory[1].data(), memory[2].data()}};
  runs_[rank]->start(operations_[rank]);
  started_[rank] = true;
}

void SimWorld::start_all(const collectives::PlanRequest& request, const Reduction& reduction,
                         DataType type) {
  for (std::size_t rank = 0; rank < options_.world_size; ++rank) {
    start(rank, request, reduction, type);
  }
}

void SimWorld::tick() {
  std::vector<std::size_t> order(options_.world_size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::size_t rank : order) {
    if (gone_[rank] || !started_[rank] || runs_[rank]->done()) continue;
    try {
      take_turns(rank);
    } catch (const Error& error) {
      errors_[rank] = error;
      lose(rank);
    }
  }
  network_.advance();
}

void SimWorld::take_turns(std::size_t rank) {
  for (std::size_t turn = 0; turn < options_.turns_in_a_tick; ++turn) {
    if (runs_[rank]->step() != collectives::Turn::kMoved) return;
  }
}

bool SimWorld::over() const {
  for (std::size_t rank = 0; rank < options_.world_size; ++rank) {
    if (!gone_[rank] && !done(rank)) return false;
  }
  return true;
}

bool SimWorld::run(std::size_t most) {
  for (std::size_t ticks = 0; ticks < most && !over(); ++ticks) tick();
  return over();
}

void SimWorld::lose(std::size_t rank) {
  gone_[rank] = true;
  network_.lose(rank);
}

void SimWorld::silence(std::size_t rank) {
  gone_[rank] = true;
  network_.silence(rank);
}

std::string SimWorld::replay() const {
  return "world " + std::to_string(options_.world_size) + ", seed " + std::to_string(options_.seed);
}

}  // namespace rota::testing
