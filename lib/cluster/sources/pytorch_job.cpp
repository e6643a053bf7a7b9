// Kubeflow's PyTorchJob, version 1: RANK is the pod's, and WORLD_SIZE is pods times processes.
// Nothing marks it but that torchrun's LOCAL_RANK is not there.
#include "cluster/one_rank.h"
#include "cluster/pods.h"
#include "cluster/sources.h"

namespace rota::cluster {

std::optional<Specification> from_pytorch_job(const Given& given) {
  const Environment& environment = given.environment;
  const bool is_there = environment.has("RANK") || environment.has("WORLD_SIZE");
  if (!is_there || environment.has("LOCAL_RANK")) return std::nullopt;
  const std::size_t world_size = environment.needed_number(
      "WORLD_SIZE", {.least = 1, .most = kMaxRanks}, "and RANK is: PyTorchJob sets both");
  const std::size_t own = environment.needed_number("RANK", {.least = 0, .most = kMaxRanks - 1},
                                                    "and WORLD_SIZE is: PyTorchJob sets both");
  const ProcessCount processes = read_process_count(given);
  const auto& slots = processes.of_each;
  if (world_size % slots.value_or(1) != 0) {
    refuse("WORLD_SIZE is " + std::to_string(world_size) + ", and PET_NPROC_PER_NODE is " +
           std::to_string(*slots) + ": the first is a multiple of the second");
  }
  const std::size_t count = world_size / slots.value_or(1);
  require_among("RANK", own, slots ? "WORLD_SIZE / PET_NPROC_PER_NODE" : "WORLD_SIZE", count);
  Specification specification{.source = "PyTorchJob", .hosts = std::vector<Host>(count)};
  specification.own_host = own;
  specification.usual_slots = 1;
  add_process_count(processes, specification);
  if (slots) specification.world_size = world_size;
  name_first(read_meeting(environment, "MASTER_ADDR", "MASTER_PORT"), specification);
  return specification;
}

}  // namespace rota::cluster
