// The world: how many hosts there are, and that all who say so say the same.
#include <array>

#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

Findings counts_pods_by_index(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.job_path.empty()) return {};
  const std::string mode = text_at(workload.job_spec(), "completionMode");
  if (mode == "Indexed" || (mode.empty() && workload.kind != "Job")) return {};
  return {error(workload.job_field("completionMode") + " is " + (mode.empty() ? "missing" : mode) +
                ", and without an index no pod knows which host it is: make it Indexed")};
}

Findings starts_all_at_once(const Manifest& /*manifest*/, const Workload& workload) {
  const bool is_trainers = workload.kind.starts_with("Train");
  if (workload.job_path.empty() || is_trainers) return {};
  const std::size_t completions = count_at(workload.job_spec(), "completions").value_or(1);
  const std::size_t parallelism = count_at(workload.job_spec(), "parallelism").value_or(1);
  if (completions == parallelism) return {};
  return {error(workload.job_field("parallelism") + " is " + std::to_string(parallelism) +
                " and completions " + std::to_string(completions) +
                ", and all pods have to run at once: make them equal")};
}

Findings declares_its_hosts(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind.starts_with("Train") || workload.pod_spec().empty()) return {};
  const auto variables = workload.variables();
  const Variable* hosts = find_variable(variables, "ROTA_HOSTS");
  const std::size_t host_count = workload.host_count.value_or(1);
  if (hosts == nullptr) {
    if (workload.names_its_hosts() || workload.kind == "Pod") return {};
    return {error(workload.container_field("env") +
                  " has no ROTA_HOSTS, and nobody else tells a pod how many there are: add it, "
                  "with the value \"" +
                  std::to_string(host_count) + "\"")};
  }
  const auto declared = to_count(hosts->value);
  if (!declared || !workload.host_count || *declared == host_count) return {};
  return {error(workload.container_field("env") + ": ROTA_HOSTS is " + hosts->value + ", and " +
                workload.host_count_field + " makes " + std::to_string(host_count) +
                " pods: make them equal")};
}

Findings declares_its_ranks(const Manifest& /*manifest*/, const Workload& workload) {
  const auto variables = workload.variables();
  const Variable* world = find_variable(variables, "ROTA_WORLD");
  const Variable* slots = find_variable(variables, "ROTA_SLOTS");
  if (world == nullptr || slots == nullptr || !workload.host_count) return {};
  const auto world_size = to_count(world->value);
  const auto slot_count = to_count(slots->value);
  if (!world_size || !slot_count) return {};
  const std::size_t expected = *slot_count * *workload.host_count;
  if (*world_size == expected) return {};
  return {error(workload.container_field("env") + ": ROTA_WORLD is " + world->value + ", and " +
                std::to_string(*workload.host_count) + " pods of " + slots->value + " slots make " +
                std::to_string(expected) + " ranks: make them equal")};
}

Findings says_how_many_nodes(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "TrainJob") return {};
  const Tree& object = *workload.object;
  if (find(object, "spec.trainer") == nullptr) {
    return {error(workload.object_field("spec.trainer") +
                  " is missing, and without it no pod is told which node it is: add it, with "
                  "numNodes")};
  }
  if (workload.host_count) return {};
  return {error(workload.object_field("spec.trainer.numNodes") +
                " is missing, so that the world is as large as the runtime's default: add it")};
}

Findings has_its_runtime(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "TrainJob" || workload.pods_owner != nullptr) return {};
  return {hint(workload.object_field("spec.runtimeRef") + " names " +
               shown(text_at(*workload.object, "spec.runtimeRef.name")) +
               ", which is in none of these files, so that its pods were not looked at")};
}

Findings is_told_by_trainer(const Manifest& /*manifest*/, const Workload& workload) {
  if (!workload.kind.starts_with("Train") || workload.pod_spec().empty()) return {};
  Findings findings;
  if (find(*workload.pods_owner, "spec.mlPolicy.torch") == nullptr) {
    findings.push_back(error(name_of(*workload.pods_owner) +
                             ": spec.mlPolicy.torch is missing, and by it pods are told how many "
                             "they are: add it, as {}"));
  }
  const std::string name = text_at(workload.main_container(), "name");
  if (name != "node") {
    findings.push_back(error(workload.container_field("name") + " is " + shown(name) +
                             ", and Trainer tells its pods about the world in the container node "
                             "alone: call it that"));
  }
  const auto variables = workload.variables();
  const Variable* hosts = find_variable(variables, "ROTA_HOSTS");
  if (hosts != nullptr && workload.host_count && to_count(hosts->value) != workload.host_count) {
    findings.push_back(error(workload.container_field("env") + ": ROTA_HOSTS is " + hosts->value +
                             ", and " + workload.host_count_field + " is " +
                             std::to_string(*workload.host_count) +
                             ": leave it out, since Trainer tells the number"));
  }
  return findings;
}

struct Label {
  std::string_view variable;
  std::string_view label;
};

constexpr std::array kLabels = {Label{"JOBSET_NAME", "jobset-name"},
                                Label{"JOBSET_JOB_INDEX", "job-index"},
                                Label{"JOBSET_REPLICATEDJOB_REPLICAS", "replicatedjob-replicas"},
                                Label{"JOBSET_RESTART_ATTEMPT", "restart-attempt"}};

// Without them its pods are those of an Indexed Job, which counts no restarts.
Findings knows_its_set(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "JobSet" || workload.pod_spec().empty()) return {};
  const auto variables = workload.variables();
  Findings findings;
  for (const auto& [name, label] : kLabels) {
    const std::string path = "metadata.labels['jobset.sigs.k8s.io/" + std::string(label) + "']";
    const Variable* variable = find_variable(variables, name);
    if (variable != nullptr && variable->field_path == path) continue;
    const std::string text = workload.container_field("env") + ": " + std::string(name) +
                             (variable == nullptr ? " is missing" : " is of another field") +
                             ": take it from the fieldPath " + path;
    const bool is_needed = variable != nullptr || workload.job_count > 1;
    findings.push_back(is_needed ? error(text) : hint(text));
  }
  return findings;
}

Findings counts_from_its_start(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "StatefulSet") return {};
  const std::size_t start = count_at(*workload.object, "spec.ordinals.start").value_or(0);
  const auto variables = workload.variables();
  const Variable* told = find_variable(variables, "ROTA_ORDINAL_START");
  const std::string value = told == nullptr ? "0" : told->value;
  if (value == std::to_string(start)) return {};
  return {error(workload.object_field("spec.ordinals.start") + " is " + std::to_string(start) +
                ", which a pod cannot see, and ROTA_ORDINAL_START is " +
                (told == nullptr ? "missing" : value) + ": make it \"" + std::to_string(start) +
                "\"")};
}

constexpr std::array kRules = {
    Rule{"completionMode: Indexed", counts_pods_by_index},
    Rule{"parallelism as completions", starts_all_at_once},
    Rule{"ROTA_HOSTS as the number of pods", declares_its_hosts},
    Rule{"ROTA_WORLD as hosts times slots", declares_its_ranks},
    Rule{"a TrainJob's trainer.numNodes", says_how_many_nodes},
    Rule{"a TrainJob's runtime", has_its_runtime},
    Rule{"what Trainer tells its pods", is_told_by_trainer},
    Rule{"a JobSet's labels as variables", knows_its_set},
    Rule{"ROTA_ORDINAL_START as ordinals.start", counts_from_its_start},
};

}  // namespace

std::span<const Rule> rules_of_world() { return kRules; }

}  // namespace rota::manifest
