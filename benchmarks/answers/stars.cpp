// Makes the plans of workers and servers, and runs them in simulated time. Each rank begins with
// another peer, so that no cable waits while another one has a queue.
#include "answers/stars.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "collectives/algorithms.h"
#include "predict/simulation.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using collectives::Plan;
using collectives::PlanBuilder;
using collectives::values_at;

class Stars {
 public:
  Stars(std::size_t world_size, std::size_t worker_count, std::size_t count)
      : world_size_(world_size),
        worker_count_(worker_count),
        slices_(collectives::cut({0, count}, world_size - worker_count)) {}

  Plan plan_of(std::size_t rank) const {
    PlanBuilder plan({{.algorithm = Algorithm::kStar}, rank, world_size_});
    if (rank < worker_count_) {
      work(plan, rank);
    } else {
      serve(plan, rank - worker_count_);
    }
    return plan.build();
  }

 private:
  // A worker sends each server its slice, and receives the sums.
  void work(PlanBuilder& plan, std::size_t worker) const {
    const std::size_t servers = slices_.size();
    for (std::size_t i = 0; i < servers; ++i) {
      const std::size_t server = (worker + i) % servers;
      plan.send(worker_count_ + server, values_at(slices_[server]));
    }
    for (std::size_t i = 0; i < servers; ++i) {
      const std::size_t server = (worker + i) % servers;
      plan.receive(worker_count_ + server, values_at(slices_[server]));
    }
  }

  // A server adds up the slices of all workers, and sends out the sum.
  void serve(PlanBuilder& plan, std::size_t server) const {
    const collectives::Place slice = values_at(slices_[server]);
    for (std::size_t i = 0; i < worker_count_; ++i) {
      plan.reduce((server + i) % worker_count_, slice, i + 1 == worker_count_);
    }
    for (std::size_t i = 0; i < worker_count_; ++i) {
      plan.send((server + i) % worker_count_, slice);
    }
  }

  std::size_t world_size_;
  std::size_t worker_count_;
  std::vector<Slice> slices_;  // Index = server.
};

}  // namespace

double predict_stars(const WorldModel& model, std::size_t worker_count, std::size_t count) {
  const std::size_t world_size = model.hosts.size();
  ROTA_ASSERT(0 < worker_count && worker_count < world_size);
  const Stars stars(world_size, worker_count, count);
  PlannedCall planned{.call = {.algorithm = Algorithm::kStar, .count = count}, .plans = {}};
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    planned.plans.push_back(stars.plan_of(rank));
  }
  Clock clock(model);
  simulate(model, planned, clock);
  return std::ranges::max(clock.ranks);
}

}  // namespace rota::bench
