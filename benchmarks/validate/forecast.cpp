// Puts the options of `rota-bench predict` together for each point.
#include "validate/forecast.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "collectives/method.h"
#include "predict/cables.h"
#include "predict/call_runner.h"
#include "predict/lines.h"
#include "predict/worlds.h"
#include "scale/arguments.h"
#include "statistics.h"
#include "validate/jobs.h"
#include "validate/paced_workload.h"

namespace rota::bench {
namespace {

std::pair<std::size_t, std::size_t> key_of(const ValidatedWorld& world) {
  return {world.megabits, world.ranks_per_host};
}

std::string path_of(const std::string& folder, const ValidatedWorld& world) {
  return folder + "/" + std::to_string(world.megabits) + "-" + std::to_string(world.ranks_per_host);
}

Calibration read_calibration(const std::string& path) {
  Calibration calibration = parse_calibration(path, text_of_file(path));
  if (calibration.costs.between_hosts.seconds_per_byte > 0) return calibration;
  throw std::invalid_argument(path + " has no line 'between-hosts': measure it on two hosts");
}

const Calibration& calibration_of(const ForecastBasis& basis, const ValidatedWorld& world) {
  const auto found = basis.calibrations.find(key_of(world));
  if (found != basis.calibrations.end()) return found->second;
  throw std::invalid_argument("there is no calibration " + path_of(basis.folder, world));
}

PredictArguments arguments_for(const ValidationPoint& point, const ForecastBasis& basis) {
  PredictArguments arguments;
  arguments.host_counts = {point.world.hosts};
  arguments.shape.ranks_per_host = point.world.ranks_per_host;
  arguments.transport = default_transport(arguments);
  arguments.calibration = path_of(basis.folder, point.world);
  arguments.machine = basis.machine;
  arguments.burst_bytes = basis.burst_bytes;
  if (!point.is_training()) arguments.step.plan = point.plan;
  return arguments;
}

double work_of(const Clock& clock) {
  return std::accumulate(clock.worked.begin(), clock.worked.end(), 0.0);
}

// Runs a call that all ranks begin together, and returns its time. All ranks share the cores, so it
// takes at least their work together, divided by the number of cores.
double run_together(CallRunner& calls, const Call& call, std::size_t cores, Clock& clock) {
  const double begin = std::ranges::max(clock.ranks);
  std::ranges::fill(clock.ranks, begin);
  const double before = work_of(clock);
  calls.run(call, clock);
  const double work = (work_of(clock) - before) / static_cast<double>(cores);
  const double end = std::max(std::ranges::max(clock.ranks), begin + work);
  std::ranges::fill(clock.ranks, end);
  return end - begin;
}

// Returns the median of isolated calls: before each of them there is a barrier, which takes about
// as long as an all-reduce of one value.
double seconds_of_isolated_calls(const WorldModel& model, const Call& call, std::size_t cores) {
  const Call barrier = call_of(model, 1, {});
  CallRunner calls(model, Fold::kNever);
  Clock clock(model);
  const std::size_t warm_up = warm_up_calls(kValidatedCalls);
  std::vector<double> samples;
  for (std::size_t i = 0; i < warm_up + kValidatedCalls; ++i) {
    run_together(calls, barrier, cores, clock);
    const double seconds = run_together(calls, call, cores, clock);
    if (i >= warm_up) samples.push_back(seconds);
  }
  return median(samples);
}

ScaleOptions scale_options_of(const ValidationPoint& point) {
  return {.model = point.model,
          .scaling = point.scaling,
          .batch_size = default_batch_size(point.scaling)};
}

void halve(Link& link) {
  link.latency_seconds /= 2;
  link.busy_seconds /= 2;  // It is a part of the latency.
}

}  // namespace

Calibrations read_calibrations(const std::string& folder,
                               const std::vector<ValidationPoint>& points) {
  Calibrations calibrations;
  for (const ValidationPoint& point : points) {
    if (calibrations.contains(key_of(point.world))) continue;
    calibrations[key_of(point.world)] = read_calibration(path_of(folder, point.world));
  }
  return calibrations;
}

Forecast forecast(const ValidationPoint& point, const ForecastBasis& basis) {
  const PredictArguments arguments = arguments_for(point, basis);
  const WorldModel costs = costs_of(arguments, calibration_of(basis, point.world));
  WorldShape shape = arguments.shape;
  shape.host_count = point.world.hosts;
  const WorldModel model = model_of(shape, costs);
  if (!point.is_training()) {
    const Call call = call_of(model, point.bytes / sizeof(float), arguments.step);
    return {.seconds = seconds_of_isolated_calls(model, call, basis.cores),
            .cable_seconds = busiest_cable_seconds(model, {&call, 1})};
  }
  const Workload workload = paced_workload(scale_options_of(point), point.world.ranks());
  const BucketLayout layout = layout_of(model, workload, arguments.step.buckets);
  return {.seconds = predict_worlds(arguments, workload, costs).front().step.step_seconds,
          .cable_seconds = busiest_cable_seconds(model, calls_of(model, layout, arguments.step))};
}

ForecastBasis with_half_latency(ForecastBasis basis) {
  for (auto& named : basis.calibrations) {
    halve(named.second.costs.within_host);
    halve(named.second.costs.between_hosts);
  }
  return basis;
}

}  // namespace rota::bench
