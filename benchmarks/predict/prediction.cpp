// Predicts an all-reduce by the simulation of its plans. The plan shared-memory has no messages, so
// it has a formula.
#include "predict/prediction.h"

#include <algorithm>

#include "predict/simulation.h"

namespace rota::bench {
namespace {

// Predicts the shared-memory plan: all ranks signal that they are there, each rank reduces its
// slice in place and writes the result to all ranks, and all ranks signal that they are done.
double predict_shared(const WorldModel& model, std::size_t bytes) {
  const auto n = static_cast<double>(model.hosts.size());
  const double passes = 2 * (n - 1) / n;
  return 2 * model.within_host.latency_seconds +
         passes * static_cast<double>(bytes) * model.reduce_seconds_per_byte;
}

}  // namespace

double predict(const WorldModel& model, collectives::Algorithm algorithm, std::size_t bytes) {
  if (algorithm == collectives::Algorithm::kShared) {
    return predict_shared(model, bytes);
  }
  Clock clock(model);
  const Call call{.algorithm = algorithm, .count = bytes / sizeof(float)};
  simulate(model, plan_call(model, call, model.hosts.size()), clock);
  return std::ranges::max(clock.ranks);
}

}  // namespace rota::bench
