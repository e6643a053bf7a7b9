// Reads the pod of a StatefulSet: only the pod's name has its ordinal, so this is the weakest
// source.
#include "cluster/pods.h"
#include "cluster/sources.h"

namespace rota::cluster {
namespace {

// Returns whether the digits may be the random end of a pod's name. Kubernetes draws five
// characters for that end. All five may be digits, but only those listed below.
bool is_drawn(const std::string& digits) {
  constexpr std::size_t kCount = 5;
  return digits.size() == kCount && digits.find_first_not_of("2456789") == std::string::npos;
}

}  // namespace

std::optional<Specification> from_stateful_set(const Given& given) {
  const Environment& environment = given.environment;
  const auto pod = parse_pod_name(given.host_name);
  const bool is_pod = environment.has("KUBERNETES_SERVICE_HOST");
  const std::string* hosts = environment.find("ROTA_HOSTS");
  const bool is_asked_for = is_pod || (hosts && *hosts != "1");
  if (!pod || !is_asked_for) return std::nullopt;
  const Declared declared = read_declared(environment);
  Specification specification{.source = "StatefulSet"};
  const std::size_t first = declared.ordinal_start;
  if (!declared.host_count) {
    const bool is_no_ordinal = hosts || is_drawn(std::to_string(pod->ordinal));
    if (is_no_ordinal) return std::nullopt;
    specification.own_host = pod->ordinal;
    return specification;
  }
  const std::size_t count = *declared.host_count;
  if (pod->ordinal < first || pod->ordinal - first >= count) {
    refuse("the pod's name " + shown(given.host_name) + " has the ordinal " +
           std::to_string(pod->ordinal) + ", and ROTA_HOSTS is " + std::to_string(count) +
           ": the ordinals go from " + std::to_string(first) + " to " +
           std::to_string(first + count - 1) +
           "; set ROTA_HOSTS to the set's spec.replicas, and ROTA_ORDINAL_START to its "
           "spec.ordinals.start if it has one");
  }
  specification.own_host = pod->ordinal - first;
  specification.hosts = pods_like(*pod, first, count, declared.service);
  return specification;
}

}  // namespace rota::cluster
