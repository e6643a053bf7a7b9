// Reads the variables of torchrun: RANK and WORLD_SIZE count processes. LOCAL_RANK distinguishes
// torchrun from PyTorchJob, where RANK is the index of the pod.
#include "cluster/host_names.h"
#include "cluster/one_rank.h"
#include "cluster/sources.h"

namespace rota::cluster {

std::optional<Specification> from_torchrun(const Given& given) {
  const Environment& environment = given.environment;
  if (!environment.has("LOCAL_RANK")) return std::nullopt;
  if (!environment.has("RANK") && !environment.has("WORLD_SIZE")) {
    refuse(
        "LOCAL_RANK is set, but RANK and WORLD_SIZE are not, and torchrun sets all three: set all "
        "three, or unset LOCAL_RANK");
  }
  Specification specification = read_rank("torchrun", environment,
                                          {.rank = "RANK",
                                           .world_size = "WORLD_SIZE",
                                           .local_rank = "LOCAL_RANK",
                                           .local_world_size = "LOCAL_WORLD_SIZE"});
  // torchrun numbers its hosts in the order of their arrival, so GROUP_RANK cannot be compared with
  // other sources.
  const auto host_count =
      environment.number("GROUP_WORLD_SIZE", {.least = 1, .most = *specification.world_size});
  specification.hosts.resize(host_count.value_or(0));
  specification.rendezvous = read_rendezvous(environment, "MASTER_ADDR", "MASTER_PORT");
  // If torchrun's agent listens at that port itself, rota cannot use the port.
  const bool is_taken = environment.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (specification.rendezvous && is_taken) specification.rendezvous->port.reset();
  specification.epoch =
      environment.number("TORCHELASTIC_RESTART_COUNT", {.least = 0, .most = kMaxOrdinal});
  specification.job_id = environment.text("TORCHELASTIC_RUN_ID");
  return specification;
}

}  // namespace rota::cluster
