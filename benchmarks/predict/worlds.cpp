// Puts the parts of a prediction together.
#include "predict/worlds.h"

#include <stdexcept>
#include <string>

namespace rota::bench {
namespace {

void require_network(const WorldShape& shape, const WorldModel& costs) {
  const Link& link = costs.between_hosts;
  if (shape.host_count < 2 || (link.seconds_per_byte > 0 && link.latency_seconds > 0)) return;
  throw std::invalid_argument(
      "a world of several hosts needs a rate and a latency: give --rate and --latency, or a "
      "--calibration of several hosts");
}

PredictedWorld predict_world(const PredictArguments& arguments, const Workload& workload,
                             const WorldModel& costs, const WorldShape& shape) {
  require_network(shape, costs);
  WorldModel model = model_of(shape, costs);
  model.shares_memory = shape.host_count == 1 && arguments.transport == "shm";
  std::vector<std::size_t> counts;
  for (const Workload::Gradient& gradient : workload.gradients) counts.push_back(gradient.count);
  const BucketLayout layout = lay_out_buckets(counts, sizeof(float), arguments.step.buckets);
  return {.shape = shape,
          .step = predict_step(model, workload, arguments.step),
          .memory = memory_of(model, layout, calls_of(model, layout, arguments.step),
                              arguments.transport)};
}

}  // namespace

WorldModel costs_of(const PredictArguments& arguments,
                    const std::optional<Calibration>& calibration) {
  WorldModel costs;
  if (calibration) {
    require_same(arguments.calibration, *calibration, arguments.machine, arguments.transport);
    costs = calibration->costs;
    const Codec codec = arguments.step.codec;
    const auto known = calibration->codecs.find(codec);
    if (known != calibration->codecs.end()) {
      costs.codec = known->second;
    } else if (codec != Codec::kIdentity) {
      throw std::invalid_argument(arguments.calibration + " has no line 'codec " +
                                  std::string(to_string(codec)) + "'");
    }
  }
  if (arguments.seconds_per_byte > 0) {
    costs.between_hosts.seconds_per_byte = arguments.seconds_per_byte;
  }
  if (arguments.latency_seconds > 0) {
    costs.between_hosts.latency_seconds = arguments.latency_seconds;
  }
  costs.burst_bytes = arguments.burst_bytes;
  return costs;
}

std::vector<PredictedWorld> predict_worlds(const PredictArguments& arguments,
                                           const Workload& workload, const WorldModel& costs) {
  std::vector<PredictedWorld> worlds;
  for (const std::size_t host_count : arguments.host_counts) {
    WorldShape shape = arguments.shape;
    shape.host_count = host_count;
    worlds.push_back(predict_world(arguments, workload, costs, shape));
  }
  return worlds;
}

}  // namespace rota::bench
