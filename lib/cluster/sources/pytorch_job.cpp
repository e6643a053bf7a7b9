// Reads Kubeflow's PyTorchJob, version 1: RANK is the index of the pod, and WORLD_SIZE is the
// number of pods times the number of processes in each. Only the absence of torchrun's LOCAL_RANK
// identifies this source.
#include "cluster/one_rank.h"
#include "cluster/pods.h"
#include "cluster/sources.h"

namespace rota::cluster {

std::optional<Specification> from_pytorch_job(const Given& given) {
  const Environment& environment = given.environment;
  const bool is_there = environment.has("RANK") || environment.has("WORLD_SIZE");
  if (!is_there || environment.has("LOCAL_RANK")) return std::nullopt;
  const std::size_t world_size = environment.needed_number(
      "WORLD_SIZE", {.least = 1, .most = kMaxRanks}, "but RANK is set: PyTorchJob sets both");
  const std::size_t own = environment.needed_number("RANK", {.least = 0, .most = kMaxRanks - 1},
                                                    "but WORLD_SIZE is set: PyTorchJob sets both");
  const ProcessCount processes = read_process_count(given);
  const auto& slots = processes.of_each;
  if (world_size % slots.value_or(1) != 0) {
    refuse("WORLD_SIZE is " + std::to_string(world_size) + ", and PET_NPROC_PER_NODE is " +
           std::to_string(*slots) + ": the first must be a multiple of the second");
  }
  const std::size_t count = world_size / slots.value_or(1);
  require_among("RANK", own, slots ? "WORLD_SIZE / PET_NPROC_PER_NODE" : "WORLD_SIZE", count);
  Specification specification{.source = "PyTorchJob", .hosts = std::vector<Host>(count)};
  specification.own_host = own;
  specification.usual_slots = 1;
  add_process_count(processes, specification);
  if (slots) specification.world_size = world_size;
  name_first(read_rendezvous(environment, "MASTER_ADDR", "MASTER_PORT"), specification);
  return specification;
}

}  // namespace rota::cluster
