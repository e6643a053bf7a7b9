// Has the rules about the names of workloads, and of the pods that they make.
#include <array>

#include "launcher/manifest/names.h"
#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

Findings is_name(const Manifest& /*manifest*/, const Workload& workload) {
  if (is_label(workload.name)) return {};
  if (workload.name.size() > kMostNameLetters) return {};  // The next rule reports the length.
  return {error(workload.object_field("metadata.name") + " is " + shown(workload.name) +
                ", but pods must be found by this name: use lower-case letters, digits and "
                "hyphens, with a letter or a digit at both ends")};
}

Findings fits_a_host_name(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind == "Pod") return {};
  const std::string pod =
      longest_pod_name(workload.is_trainers() ? "TrainJob" : workload.kind, workload.name,
                       workload.set_name, workload.host_count.value_or(1));
  if (pod.size() > kMostNameLetters) {
    return {error(workload.object_field("metadata.name") + " makes the pod " + pod + " of " +
                  std::to_string(pod.size()) +
                  " letters, but a host's name has at most 63: shorten it by " +
                  std::to_string(pod.size() - kMostNameLetters))};
  }
  const std::size_t most = most_letters(workload.kind);
  if (workload.name.size() <= most) return {};
  return {error(workload.object_field("metadata.name") + " has " +
                std::to_string(workload.name.size()) + " letters, but a " + workload.kind +
                "'s name has at most " + std::to_string(most) +
                ", since it is also a label, with a revision after it: shorten it")};
}

constexpr std::array kNamesRules = {
    Rule{"a name that pods can be found by", is_name},
    Rule{"63 letters with the index", fits_a_host_name},
};

}  // namespace

std::span<const Rule> rules_of_names() { return kNamesRules; }

}  // namespace rota::manifest
