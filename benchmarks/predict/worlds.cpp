// Puts the parts of a prediction together.
#include "predict/worlds.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace rota::bench {
namespace {

WorldModel checked_model(const PredictArguments& arguments, const WorldModel& costs,
                         const WorldShape& shape) {
  require_network(shape, costs);
  WorldModel model = model_of(shape, costs);
  model.shares_memory = shape.host_count == 1 && transport_of(arguments, shape) == "shm";
  return model;
}

PredictedWorld predict_world(const PredictArguments& arguments, const Workload& workload,
                             const WorldModel& costs, const WorldShape& shape) {
  const WorldModel model = checked_model(arguments, costs, shape);
  const BucketLayout layout = layout_of(model, workload, arguments.step.buckets);
  return {.shape = shape,
          .step = predict_step(model, workload, arguments.step),
          .memory = memory_of(model, layout, calls_of(model, layout, arguments.step),
                              transport_of(arguments, shape))};
}

// Returns the costs of the bytes between hosts alone.
WorldModel of_bytes_alone(const WorldModel& costs) {
  WorldModel bytes;
  bytes.between_hosts.seconds_per_byte = costs.between_hosts.seconds_per_byte;
  return bytes;
}

// Returns the transport that a calibration for this prediction is of. One over shm+tcp has measured
// the costs within a host, too.
std::string calibrated_transport(const PredictArguments& arguments,
                                 const Calibration& calibration) {
  const bool has_both = calibration.transport == "shm+tcp" && arguments.transport == "shm";
  return arguments.chooses_transport && has_both ? calibration.transport : arguments.transport;
}

}  // namespace

void require_network(const WorldShape& shape, const WorldModel& costs) {
  const Link& link = costs.between_hosts;
  if (shape.host_count < 2 || (link.seconds_per_byte > 0 && link.latency_seconds > 0)) return;
  throw std::invalid_argument(
      "a world of several hosts needs a rate and a latency: give --rate and --latency, or a "
      "--calibration of several hosts");
}

WorldModel costs_of(const PredictArguments& arguments,
                    const std::optional<Calibration>& calibration) {
  WorldModel costs;
  if (calibration) {
    require_same(arguments.calibration, *calibration, arguments.machine,
                 calibrated_transport(arguments, *calibration));
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

std::vector<WorldShape> shapes_of(const PredictArguments& arguments) {
  std::vector<WorldShape> shapes;
  for (const std::size_t host_count : arguments.host_counts) {
    shapes.push_back(arguments.shape);
    shapes.back().host_count = host_count;
  }
  return shapes;
}

std::vector<PredictedWorld> predict_worlds(const PredictArguments& arguments,
                                           const Workload& workload, const WorldModel& costs) {
  std::vector<PredictedWorld> worlds;
  for (const WorldShape& shape : shapes_of(arguments)) {
    worlds.push_back(predict_world(arguments, workload, costs, shape));
  }
  return worlds;
}

std::vector<PredictedCall> predict_calls(const PredictArguments& arguments,
                                         const WorldModel& costs) {
  std::vector<PredictedCall> calls;
  const Fold fold = arguments.step.fold;
  for (const WorldShape& shape : shapes_of(arguments)) {
    const WorldModel model = checked_model(arguments, costs, shape);
    const WorldModel bytes = model_of(shape, of_bytes_alone(costs));
    for (const std::size_t size : arguments.sizes) {
      const Call call =
          call_of(model, std::max<std::size_t>(1, size / sizeof(float)), arguments.step);
      if (fold == Fold::kAlways) require_alike(model, call);
      calls.push_back({.shape = shape,
                       .call = call,
                       .seconds = seconds_of_call(model, call, fold),
                       .bytes_seconds = seconds_of_call(bytes, call, fold)});
    }
  }
  return calls;
}

}  // namespace rota::bench
