// Formats predictions as lines of text.
#include "predict/report.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/number_text.h"
#include "base/world_size.h"

namespace rota::bench {
namespace {

constexpr std::size_t kColumn = 15;

std::string right(const std::string& text) {
  const std::size_t gap = text.size() < kColumn ? kColumn - text.size() : 1;
  return std::string(gap, ' ') + text;
}

std::string milliseconds(double seconds) { return base::fixed_text(seconds * 1e3, 3); }

std::string mebibytes(std::uint64_t bytes) {
  return base::fixed_text(static_cast<double>(bytes) / (1 << 20), 1);
}

std::string row_of(const PredictedWorld& world) {
  constexpr double kPercent = 100;
  const StepPrediction& step = world.step;
  std::string row;
  for (const std::string& cell :
       {std::to_string(world.shape.host_count), std::to_string(step.world_size),
        milliseconds(step.step_seconds), base::fixed_text(efficiency_of(step) * kPercent, 1),
        milliseconds(step.computing_seconds), milliseconds(step.waiting_seconds),
        milliseconds(step.communication_seconds), mebibytes(world.memory.communication_bytes),
        mebibytes(world.memory.gradient_bytes)}) {
    row += right(cell);
  }
  return row + "\n";
}

nlohmann::ordered_json json_of(const PredictedBucket& bucket) {
  return {{"bytes", bucket.call.count * sizeof(float)},
          {"plan", to_string(bucket.call.algorithm)},
          {"codec", to_string(bucket.call.codec)},
          {"ready_seconds", bucket.ready_seconds},
          {"end_seconds", bucket.end_seconds}};
}

nlohmann::ordered_json json_of(const Workload& workload, const PredictedWorld& world) {
  const StepPrediction& step = world.step;
  nlohmann::ordered_json buckets = nlohmann::ordered_json::array();
  for (const PredictedBucket& bucket : step.buckets) buckets.push_back(json_of(bucket));
  return {{"event", "prediction"},
          {"workload", workload.name},
          {"gradient_bytes", gradient_bytes_of(workload)},
          {"hosts", world.shape.host_count},
          {"ranks_per_host", world.shape.ranks_per_host},
          {"hosts_per_switch", world.shape.hosts_per_switch},
          {"oversubscription", world.shape.oversubscription},
          {"ranks", step.world_size},
          {"alone_seconds", step.alone_seconds},
          {"step_seconds", step.step_seconds},
          {"efficiency", efficiency_of(step)},
          {"computing_seconds", step.computing_seconds},
          {"waiting_seconds", step.waiting_seconds},
          {"communication_seconds", step.communication_seconds},
          {"communication_memory_bytes", world.memory.communication_bytes},
          {"gradient_memory_bytes", world.memory.gradient_bytes},
          {"buckets", buckets}};
}

std::string row_of(const PredictedCall& predicted) {
  std::string row;
  for (const std::string& cell :
       {std::to_string(predicted.shape.host_count), std::to_string(ranks_of(predicted.shape)),
        std::to_string(predicted.call.count * sizeof(float)),
        std::string(to_string(predicted.call.algorithm)),
        std::string(to_string(predicted.call.codec)), milliseconds(predicted.seconds),
        milliseconds(predicted.bytes_seconds)}) {
    row += right(cell);
  }
  return row + "\n";
}

nlohmann::ordered_json json_of(const PredictedCall& predicted) {
  return {{"event", "all-reduce prediction"},
          {"hosts", predicted.shape.host_count},
          {"ranks_per_host", predicted.shape.ranks_per_host},
          {"bytes", predicted.call.count * sizeof(float)},
          {"plan", to_string(predicted.call.algorithm)},
          {"codec", to_string(predicted.call.codec)},
          {"seconds", predicted.seconds},
          {"bytes_seconds", predicted.bytes_seconds}};
}

std::string titles(std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) text += right(name);
  return text + "\n";
}

}  // namespace

std::string warning_of(const std::vector<WorldShape>& shapes) {
  std::string text;
  for (const WorldShape& shape : shapes) {
    const std::size_t world_size = ranks_of(shape);
    if (world_size <= base::kMaxWorldSize) continue;
    text += "a world of " + std::to_string(world_size) +
            " ranks is only predicted: a job has at most " + std::to_string(base::kMaxWorldSize) +
            " ranks\n";
  }
  return text;
}

std::string to_text(const Workload& workload, const std::vector<PredictedWorld>& worlds) {
  std::string text = "# " + workload.name + ": " + std::to_string(workload.gradients.size()) +
                     " gradients of " + mebibytes(gradient_bytes_of(workload)) +
                     " MiB; a step of one rank takes " + milliseconds(alone_seconds_of(workload)) +
                     " ms\n# All figures are predicted.\n";
  text += titles({"hosts", "ranks", "step/ms", "efficiency/%", "computing/ms", "waiting/ms",
                  "sums/ms", "memory/MiB", "gradients/MiB"});
  for (const PredictedWorld& world : worlds) text += row_of(world);
  return text;
}

std::string to_json(const Workload& workload, const std::vector<PredictedWorld>& worlds) {
  std::string text;
  for (const PredictedWorld& world : worlds) text += json_of(workload, world).dump() + "\n";
  return text;
}

std::string to_text(const std::vector<PredictedCall>& calls) {
  std::string text = "# All figures are predicted.\n" +
                     titles({"hosts", "ranks", "bytes", "plan", "codec", "time/ms", "bytes/ms"});
  for (const PredictedCall& call : calls) text += row_of(call);
  return text;
}

std::string to_json(const std::vector<PredictedCall>& calls) {
  std::string text;
  for (const PredictedCall& call : calls) text += json_of(call).dump() + "\n";
  return text;
}

std::string to_text(const PredictionCost& cost) {
  return "# This command took " + base::fixed_text(cost.seconds, 3) + " s, and " +
         mebibytes(cost.peak_memory_bytes) + " MiB of memory at most.\n";
}

std::string to_json(const PredictionCost& cost) {
  const nlohmann::ordered_json row{
      {"event", "cost"}, {"seconds", cost.seconds}, {"peak_memory_bytes", cost.peak_memory_bytes}};
  return row.dump() + "\n";
}

}  // namespace rota::bench
