// Has the rules about failures: how the manifest treats exit codes, and what is restarted.
#include <algorithm>
#include <array>
#include <set>

#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

Findings ends_its_pods(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.job_path.empty()) return {};
  const std::string policy = text_at(workload.pod_spec(), "restartPolicy");
  const bool needs_never = find(workload.job_spec(), "podFailurePolicy") != nullptr;
  if (policy == "Never" || (!needs_never && policy == "OnFailure")) return {};
  return {error(
      workload.pod_field("restartPolicy") + " is " + (policy.empty() ? "missing" : policy) +
      ", but " +
      (needs_never ? "podFailurePolicy allows only Never" : "a Job must have Never or OnFailure") +
      ": make it Never")};
}

Findings check_codes(const Workload& workload, const std::string& path) {
  const Tree& values = list_at(workload.job_spec(), path + ".values");
  const bool is_ordered = std::ranges::adjacent_find(values, [](const Tree& one, const Tree& next) {
                            return one >= next;
                          }) == values.end();
  Findings findings;
  if (!is_ordered) {
    findings.push_back(error(workload.job_field(path + ".values") +
                             " are not in ascending order, or one appears twice, which the API "
                             "refuses: sort them, each once"));
  }
  const bool is_in = text_at(workload.job_spec(), path + ".operator") == "In";
  if (is_in && std::ranges::find(values, Tree(0)) != values.end()) {
    findings.push_back(error(workload.job_field(path + ".values") +
                             " contain 0, which is a success: leave it out"));
  }
  return findings;
}

std::set<std::string_view> names_of_containers(const Workload& workload) {
  std::set<std::string_view> names;
  for (const Tree& each : list_at(workload.pod_spec(), "containers")) {
    names.insert(view_at(each, "name"));
  }
  return names;
}

Findings check_container(const Workload& workload, const std::string& path,
                         const std::set<std::string_view>& names) {
  const std::string name = text_at(workload.job_spec(), path + ".containerName");
  const std::string ours = text_at(workload.main_container(), "name");
  if (name == ours) return {};
  if (name.empty()) {
    return {error(workload.job_field(path + ".containerName") +
                  " is missing, so the code of any other container counts too: make it " + ours)};
  }
  if (names.contains(name)) return {};
  return {error(workload.job_field(path + ".containerName") + " is " + name +
                ", but no container has this name: make it " + ours)};
}

Findings reads_codes(const Manifest& /*manifest*/, const Workload& workload) {
  const std::size_t count = list_at(workload.job_spec(), "podFailurePolicy.rules").size();
  const auto names = names_of_containers(workload);
  Findings findings;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = "podFailurePolicy.rules[" + std::to_string(i) + "].onExitCodes";
    if (find(workload.job_spec(), path) == nullptr) continue;
    for (auto& each : check_codes(workload, path)) findings.push_back(std::move(each));
    for (auto& each : check_container(workload, path, names)) findings.push_back(std::move(each));
  }
  return findings;
}

Findings gives_up_together(const Manifest& /*manifest*/, const Workload& workload) {
  const Tree& job = workload.job_spec();
  if (find(job, "backoffLimitPerIndex") == nullptr) return {};
  const Tree* most = find(job, "maxFailedIndexes");
  if (most != nullptr && *most == 0) return {};
  return {error(workload.job_field("maxFailedIndexes") + " is " +
                (most == nullptr ? "missing" : shown(*most)) +
                ", so pods would wait for a pod that never comes back: make it 0")};
}

Findings tells_codes_apart(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.job_path.empty()) return {};
  if (find(workload.job_spec(), "podFailurePolicy") != nullptr) return {};
  return {hint(workload.job_field("podFailurePolicy") +
               " is missing, so Kubernetes retries a job that cannot succeed, and counts an "
               "eviction as a failure: add the policy that rotarun render prints")};
}

Findings counts_restarts_once(const Manifest& /*manifest*/, const Workload& workload) {
  const bool is_of_set = workload.kind == "JobSet" || workload.is_trainers();
  if (!is_of_set || workload.pod_spec().empty()) return {};
  const Tree* limit = find(workload.job_spec(), "backoffLimit");
  if (limit != nullptr && *limit == 0) return {};
  return {hint(workload.job_field("backoffLimit") + " is " +
               (limit == nullptr ? "6 by default" : shown(*limit)) +
               ", so single pods start again, although the whole set should: make it 0")};
}

Findings starts_in_parallel(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "StatefulSet") return {};
  const std::string policy = text_at(*workload.object, "spec.podManagementPolicy");
  if (policy == "Parallel" || workload.host_count.value_or(1) < 2) return {};
  return {error(workload.object_field("spec.podManagementPolicy") + " is " +
                (policy.empty() ? "OrderedReady by default" : policy) +
                ", so a pod starts only when the pod before it is ready, but that pod waits for "
                "all pods: make it Parallel")};
}

Findings stays_when_done(const Manifest& /*manifest*/, const Workload& workload) {
  const auto value = flag_value(workload.words(), "when-done");
  const bool is_known = !value || value->find("$(") == std::string::npos;
  if (!is_known || workload.hides_its_program()) return {};
  if (workload.kind == "StatefulSet") {
    if (value == "wait") return {};
    return {hint(workload.container_field("command") + " has " +
                 (value ? "--when-done " + *value : "no --when-done wait") +
                 ", so a StatefulSet starts the job again after a success: " +
                 (value ? "make it wait" : "add it"))};
  }
  if (workload.kind == "Pod" || value != "wait") return {};
  return {error(workload.container_field("command") + " has --when-done wait, so no pod of " +
                name_of(*workload.object) +
                " ends after a success, and the job never completes: leave it out")};
}

constexpr std::array kFailureRules = {
    Rule{"restartPolicy: Never", ends_its_pods},
    Rule{"exit codes of podFailurePolicy", reads_codes},
    Rule{"maxFailedIndexes: 0", gives_up_together},
    Rule{"podFailurePolicy", tells_codes_apart},
    Rule{"a set's backoffLimit: 0", counts_restarts_once},
    Rule{"podManagementPolicy: Parallel", starts_in_parallel},
    Rule{"--when-done wait", stays_when_done},
};

}  // namespace

std::span<const Rule> rules_of_failure() { return kFailureRules; }

}  // namespace rota::manifest
