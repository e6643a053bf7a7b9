// Tables of what was published, and of the costs of a link.
#include "answers/horovod.h"

#include <algorithm>
#include <cmath>

#include "predict/published_models.h"

namespace rota::bench {
namespace {

// 4 hosts: images a second on 16 GPUs, from Horovod's README of September 2017. 32 hosts: the
// README of the end of October 2017. 128 hosts: arXiv 1802.05799 and docs/benchmarks.md of Horovod.
constexpr HorovodRun kHorovodRuns[] = {
    {"inception-v3", 4, 2022.6 / (16 * 134.4)},
    {"inception-v3", 32, 0.90},
    {"inception-v3", 128, 0.90},
    {"resnet-101", 4, 1746.2 / (16 * 119.4)},
    {"resnet-101", 32, 0.90},
    {"resnet-101", 128, 0.90},
    {"vgg-16", 4, 1787.4 / (16 * 130.9), true},
    {"vgg-16", 32, 0.79},
    {"vgg-16", 128, 0.68},
};

constexpr double kMostOff = 0.10;
constexpr double kBitsOfByte = 8;

// Calibrated: 20.5 of 25 Gbit/s. Headers and the way through the memory of the host take the rest.
constexpr double kShareOfRate = 0.82;

// Assumed: a hop of NCCL's ring, and PCI Express 3.0 with 16 lanes. A GPU adds values as fast as
// they come in.
constexpr double kLatencyBetweenHosts = 20e-6;
constexpr double kLatencyWithinHost = 10e-6;
constexpr double kBusy = 2e-6;
constexpr double kSecondsPerByteOfPci = 1e-10;

// Assumed: a kernel that moves 200 GB/s.
constexpr double kSecondsPerCodedByte = 5e-12;

}  // namespace

std::span<const HorovodRun> horovod_runs() { return kHorovodRuns; }

WorldModel costs_of_gpus(double bits_per_second) {
  WorldModel costs;
  costs.within_host = {.latency_seconds = kLatencyWithinHost,
                       .busy_seconds = kBusy,
                       .seconds_per_byte = kSecondsPerByteOfPci};
  costs.between_hosts = {.latency_seconds = kLatencyBetweenHosts,
                         .busy_seconds = kBusy,
                         .seconds_per_byte = kBitsOfByte / (bits_per_second * kShareOfRate)};
  costs.reduce_seconds_per_byte = kSecondsPerByteOfPci;
  costs.codec = {.encode_seconds_per_byte = kSecondsPerCodedByte,
                 .decode_seconds_per_byte = kSecondsPerCodedByte};
  return costs;
}

StepOptions horovod_way() {
  constexpr std::size_t kFused = std::size_t{64} << 20;
  return {.plan = collectives::Algorithm::kRing,
          .buckets = {.first_bucket_bytes = kFused, .bucket_bytes = kFused}};
}

double predicted_efficiency(const std::string& model, const WorldModel& world,
                            const StepOptions& options) {
  return efficiency_of(predict_step(world, published_workload(model), options));
}

std::vector<ComparedRun> compared_runs(std::span<const HorovodRun> runs) {
  const WorldModel costs = costs_of_gpus(kHorovodRate);
  std::vector<ComparedRun> compared;
  for (const HorovodRun& run : runs) {
    const WorldModel world =
        model_of({.host_count = run.hosts, .ranks_per_host = kGpusOfHost}, costs);
    compared.push_back({run, predicted_efficiency(std::string(run.model), world, horovod_way())});
  }
  return compared;
}

bool is_close(std::span<const ComparedRun> runs, std::string_view model) {
  return std::ranges::all_of(runs, [&](const ComparedRun& compared) {
    return compared.run.model != model || std::abs(compared.error()) <= kMostOff;
  });
}

}  // namespace rota::bench
