// PMIx: the environment has the rank and the job; how many there are, its server would tell.
#include "cluster/sources.h"
#include "cluster/sources/slurm_step.h"

namespace rota::cluster {

std::optional<Specification> from_pmix(const Given& given) {
  const Environment& environment = given.environment;
  if (!environment.has("PMIX_RANK")) return std::nullopt;
  if (is_own_step(environment, environment.text("PMIX_NAMESPACE"))) return std::nullopt;
  Specification specification{.source = "PMIx", .level = Level::kProcess};
  specification.rank = environment.number("PMIX_RANK", {.least = 0, .most = kMaxRanks - 1});
  if (!environment.has("PMIX_NAMESPACE")) {
    refuse("PMIX_NAMESPACE is not set, and PMIX_RANK is: PMIx sets both");
  }
  specification.job_id = environment.text("PMIX_NAMESPACE");
  return specification;
}

}  // namespace rota::cluster
