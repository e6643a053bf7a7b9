// Reads Kubeflow's Trainer, version 2: PET_* say which node this is, and where node 0 is.
#include "cluster/one_rank.h"
#include "cluster/pods.h"
#include "cluster/sources.h"

namespace rota::cluster {

std::optional<Specification> from_trainer(const Given& given) {
  const Environment& environment = given.environment;
  const std::string* count_text = environment.find("PET_NNODES");
  if (!count_text && !environment.has("PET_NODE_RANK")) return std::nullopt;
  if (count_text && count_text->find(':') != std::string::npos) {
    refuse("PET_NNODES is " + shown(*count_text) +
           ", an elastic range: a world has one size, so give one number");
  }
  const std::size_t count = environment.needed_number(
      "PET_NNODES", {.least = 1, .most = kMaxRanks}, "but PET_NODE_RANK is set: Trainer sets both");
  const std::size_t own =
      environment.needed_number("PET_NODE_RANK", {.least = 0, .most = kMaxRanks - 1},
                                "but PET_NNODES is set: Trainer sets both");
  require_among("PET_NODE_RANK", own, "PET_NNODES", count);
  Specification specification{.source = "Kubeflow Trainer", .hosts = std::vector<Host>(count)};
  specification.own_host = own;
  const ProcessCount processes = read_process_count(given);
  add_process_count(processes, specification);
  if (processes.of_each) specification.world_size = *processes.of_each * count;
  name_first(read_rendezvous(environment, "PET_MASTER_ADDR", "PET_MASTER_PORT"), specification);
  return specification;
}

}  // namespace rota::cluster
