// torchrun: RANK and WORLD_SIZE are the process's. LOCAL_RANK tells it from PyTorchJob, whose RANK
// is the pod's.
#include "cluster/host_names.h"
#include "cluster/one_rank.h"
#include "cluster/sources.h"

namespace rota::cluster {

std::optional<Specification> from_torchrun(const Given& given) {
  const Environment& environment = given.environment;
  if (!environment.has("LOCAL_RANK")) return std::nullopt;
  Specification specification = read_rank("torchrun", environment,
                                          {.rank = "RANK",
                                           .world_size = "WORLD_SIZE",
                                           .local_rank = "LOCAL_RANK",
                                           .local_world_size = "LOCAL_WORLD_SIZE"});
  // Which of the hosts this is depends on who came first there, so that GROUP_RANK says nothing
  // that others could be held against.
  const auto host_count =
      environment.number("GROUP_WORLD_SIZE", {.least = 1, .most = *specification.world_size});
  specification.hosts.resize(host_count.value_or(0));
  specification.meeting = read_meeting(environment, "MASTER_ADDR", "MASTER_PORT");
  // Its agent may listen there itself.
  const bool is_taken = environment.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (specification.meeting && is_taken) specification.meeting->port.reset();
  specification.epoch =
      environment.number("TORCHELASTIC_RESTART_COUNT", {.least = 0, .most = kMaxOrdinal});
  specification.job_id = environment.text("TORCHELASTIC_RUN_ID");
  return specification;
}

}  // namespace rota::cluster
