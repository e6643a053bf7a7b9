// Reads the pod of a StatefulSet: only the pod's name has its ordinal, so this is the weakest
// source.
#include "cluster/pods.h"
#include "cluster/sources.h"
#include "cluster/unread_hosts.h"

namespace rota::cluster {
namespace {

// Returns whether the number may be the end of a name that a controller has made up. Kubernetes
// draws five characters for that end. All five may be digits, but only those listed below. Argo
// ends the names of pods with a hash of up to ten digits.
bool is_made_up(std::size_t number, std::size_t first_ordinal) {
  constexpr std::size_t kCount = 5;
  constexpr std::size_t kLeastHash = 1'000'000;
  const std::string digits = std::to_string(number);
  const bool is_drawn =
      digits.size() == kCount && digits.find_first_not_of("2456789") == std::string::npos;
  return is_drawn || number >= first_ordinal + kLeastHash;
}

}  // namespace

std::optional<Specification> from_stateful_set(const Given& given) {
  const Environment& environment = given.environment;
  const auto pod = parse_pod_name(given.host_name);
  const bool is_pod = environment.has("KUBERNETES_SERVICE_HOST");
  const std::string* hosts = environment.find("ROTA_HOSTS");
  const bool is_asked_for = is_pod || (hosts && *hosts != "1");
  // A LeaderWorkerSet makes several StatefulSets, so its pods have ordinals of their own.
  if (!pod || !is_asked_for || environment.has("LWS_GROUP_SIZE")) return std::nullopt;
  const Declared declared = read_declared(environment);
  Specification specification{.source = "StatefulSet"};
  const std::size_t first = declared.ordinal_start;
  const bool is_alone = declared.host_count == std::size_t{1};
  if ((!declared.host_count || is_alone) && is_made_up(pod->ordinal, first)) return std::nullopt;
  if (!declared.host_count) {
    if (hosts || !sign_of_started_hosts(environment).empty()) return std::nullopt;
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
           "spec.ordinals.start if it has one" +
           (is_alone ? "; or give --this-host for a job of this host alone" : ""));
  }
  specification.own_host = pod->ordinal - first;
  specification.hosts = pods_like(*pod, first, count, declared.service);
  return specification;
}

}  // namespace rota::cluster
