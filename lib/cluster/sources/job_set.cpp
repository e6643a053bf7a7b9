// Reads a JobSet: several jobs of pods, so a pod has two indices. The pod template must pass these
// labels as variables:
//   jobset.sigs.k8s.io/jobset-name             JOBSET_NAME
//   jobset.sigs.k8s.io/job-index               JOBSET_JOB_INDEX
//   jobset.sigs.k8s.io/replicatedjob-replicas  JOBSET_REPLICATEDJOB_REPLICAS
//   jobset.sigs.k8s.io/restart-attempt         JOBSET_RESTART_ATTEMPT
#include "cluster/pods.h"
#include "cluster/sources.h"

namespace rota::cluster {
namespace {

// Returns the hosts, job after job, and in each job pod after pod.
std::vector<Host> hosts_of(const PodName& job, std::size_t job_count, std::size_t pod_count,
                           const std::string& service) {
  std::vector<Host> hosts;
  for (std::size_t i = 0; i < job_count; ++i) {
    PodName pod = job;
    pod.prefix += std::to_string(i) + "-";
    const auto pods = pods_like(pod, 0, pod_count, service);
    hosts.insert(hosts.end(), pods.begin(), pods.end());
  }
  return hosts;
}

}  // namespace

std::optional<Specification> from_job_set(const Given& given) {
  const Environment& environment = given.environment;
  constexpr Range kOrdinals{.least = 0, .most = kMaxOrdinal};
  const auto job = environment.number("JOBSET_JOB_INDEX", kOrdinals);
  if (!job) return std::nullopt;
  const std::size_t pod = environment.needed_number(
      "JOB_COMPLETION_INDEX", kOrdinals,
      "but JOBSET_JOB_INDEX is set: the jobs of the JobSet must be Indexed");
  const std::size_t job_count = environment.needed_number(
      "JOBSET_REPLICATEDJOB_REPLICAS", {.least = 1, .most = kMaxRanks},
      "but JOBSET_JOB_INDEX is set: add the label jobset.sigs.k8s.io/replicatedjob-replicas");
  require_among("JOBSET_JOB_INDEX", *job, "JOBSET_REPLICATEDJOB_REPLICAS", job_count);
  const Declared declared = read_declared(environment);
  Specification specification{.source = "JobSet"};
  specification.epoch = environment.number("JOBSET_RESTART_ATTEMPT", kOrdinals);
  specification.job_id = environment.text("JOBSET_NAME");
  if (job_count == 1) specification.own_host = pod;
  if (!declared.host_count) return specification;
  const std::size_t host_count = *declared.host_count;
  if (host_count % job_count != 0) {
    refuse("ROTA_HOSTS is " + std::to_string(host_count) +
           ", and JOBSET_REPLICATEDJOB_REPLICAS is " + std::to_string(job_count) +
           ": the first must count all pods of all jobs");
  }
  const std::size_t pod_count = host_count / job_count;
  require_among("JOB_COMPLETION_INDEX", pod, "ROTA_HOSTS / JOBSET_REPLICATEDJOB_REPLICAS",
                pod_count);
  specification.own_host = *job * pod_count + pod;
  const std::string end = "-" + std::to_string(*job) + "-" + std::to_string(pod);
  PodName name = pod_of(given.host_name, end, "JOBSET_JOB_INDEX and JOB_COMPLETION_INDEX");
  name.prefix.resize(name.prefix.size() - std::to_string(*job).size() - 1);
  const std::string service = declared.service.empty() ? specification.job_id : declared.service;
  specification.hosts = hosts_of(name, job_count, pod_count, service);
  return specification;
}

}  // namespace rota::cluster
