// Reads an Indexed Job of Kubernetes. The pod knows its completion index, but nothing tells the pod
// the number of pods: ROTA_HOSTS must declare it.
#include "cluster/pods.h"
#include "cluster/sources.h"

namespace rota::cluster {

std::optional<Specification> from_indexed_job(const Given& given) {
  const Environment& environment = given.environment;
  const bool is_of_set = environment.has("JOBSET_JOB_INDEX");
  if (!environment.has("JOB_COMPLETION_INDEX") || is_of_set) return std::nullopt;
  const std::size_t index =
      *environment.number("JOB_COMPLETION_INDEX", {.least = 0, .most = kMaxOrdinal});
  Specification specification{.source = "Indexed Job"};
  specification.own_host = index;
  const Declared declared = read_declared(environment);
  if (!declared.host_count) return specification;
  require_among("JOB_COMPLETION_INDEX", index, "ROTA_HOSTS", *declared.host_count);
  const PodName pod = pod_of(given.host_name, "-" + std::to_string(index), "JOB_COMPLETION_INDEX");
  specification.hosts = pods_like(pod, 0, *declared.host_count, declared.service);
  return specification;
}

}  // namespace rota::cluster
