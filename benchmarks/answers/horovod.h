// What Horovod has published about its scaling, and a model of the world in which it was measured:
// hosts with 4 Pascal GPUs each and a cable of 25 Gbit/s, with RoCE.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/step.h"
#include "predict/world.h"

namespace rota::bench {

inline constexpr std::size_t kGpusOfHost = 4;
inline constexpr double kHorovodRate = 25e9;  // Bits a second.

// A published efficiency.
struct HorovodRun {
  std::string_view model;  // As in published_models().
  std::size_t hosts;
  double efficiency;        // A share.
  bool calibrates = false;  // The model was fitted to this run, so it does not predict it.
};

// Returns all published runs with NCCL and RoCE, model by model.
std::span<const HorovodRun> horovod_runs();

// Returns the costs of messages between GPUs of such hosts, whose cables have this rate. The share
// of the rate that bytes get is calibrated: with it, VGG-16 takes as long as published on 4 hosts.
// The latencies and the rate within a host are assumed.
WorldModel costs_of_gpus(double bits_per_second);

// Returns Horovod's own way: one ring over all ranks, which sums up to 64 MiB at once.
StepOptions horovod_way();

// Returns the predicted efficiency of a published model.
double predicted_efficiency(const std::string& model, const WorldModel& world,
                            const StepOptions& options);

struct ComparedRun {
  HorovodRun run;
  double predicted = 0;  // By Horovod's own way.

  double error() const noexcept { return predicted - run.efficiency; }
};

// Predicts the runs.
std::vector<ComparedRun> compared_runs(std::span<const HorovodRun> runs);

// Returns whether all predictions of a model are within 10 points of the published efficiencies.
bool is_close(std::span<const ComparedRun> runs, std::string_view model);

}  // namespace rota::bench
