// Has the rules about the world: how many hosts there are, and that all sources agree on the
// number.
#include <algorithm>
#include <array>

#include <rota/error.h>

#include "cluster/sources.h"
#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

Findings counts_pods_by_index(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.job_path.empty()) return {};
  const std::string mode = text_at(workload.job_spec(), "completionMode");
  if (mode == "Indexed" || (mode.empty() && workload.kind != "Job")) return {};
  return {error(workload.job_field("completionMode") + " is " + (mode.empty() ? "missing" : mode) +
                ", but without an index no pod knows which host it is: make it Indexed")};
}

Findings starts_all_at_once(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.job_path.empty() || workload.is_trainers()) return {};
  const std::size_t completions = count_at(workload.job_spec(), "completions").value_or(1);
  const std::size_t parallelism = count_at(workload.job_spec(), "parallelism").value_or(1);
  if (completions == parallelism) return {};
  return {error(workload.job_field("parallelism") + " is " + std::to_string(parallelism) +
                " and completions " + std::to_string(completions) +
                ", but all pods must run at the same time: make them equal")};
}

// Checks the number of hosts in the list. The list may also have pods of other objects or, with
// hostNetwork, names of nodes. So if it names pods of this object, only these pods are counted. If
// not, the list may be longer than the number of pods.
Findings check_host_list(const Workload& workload, const HostList& list) {
  const std::string field = workload.container_field("env") + ": ";
  if (!list.trouble.empty()) {
    return {error(field + "rotarun would refuse it with \"" + list.trouble +
                  "\": name the hosts as in mnist-0.mnist:2,mnist-1.mnist:2")};
  }
  if (!workload.host_count || list.names.empty()) return {};
  const std::size_t host_count = *workload.host_count;
  const auto own_count = static_cast<std::size_t>(std::ranges::count_if(
      list.names, [&](const std::string& name) { return workload.is_own_pod(name); }));
  const std::size_t declared = own_count > 0 ? own_count : list.names.size();
  if (declared == host_count || (own_count == 0 && declared > host_count)) return {};
  return {error(field + "ROTA_HOSTS names " + std::to_string(declared) + " hosts, but " +
                workload.host_count_field + " makes " + std::to_string(host_count) +
                " pods: make them equal")};
}

Findings declares_its_hosts(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.is_trainers() || workload.pod_spec().empty()) return {};
  if (workload.kind == "StatefulSet" && workload.host_count == 0U) return {};  // Scaled to zero.
  if (const auto list = workload.host_list()) return check_host_list(workload, *list);
  const auto variables = workload.variables();
  const Variable* hosts = find_variable(variables, "ROTA_HOSTS");
  const std::size_t host_count = workload.host_count.value_or(1);
  if (hosts == nullptr) {
    if (workload.names_its_hosts() || workload.kind == "Pod") return {};
    return {error(workload.container_field("env") +
                  " has no ROTA_HOSTS, and nothing else tells a pod the number of pods: add it, "
                  "with the value \"" +
                  std::to_string(host_count) + "\"")};
  }
  const auto declared = to_count(hosts->value);
  if (!declared || !workload.host_count || *declared == host_count) return {};
  return {error(workload.container_field("env") + ": ROTA_HOSTS is " + hosts->value + ", but " +
                workload.host_count_field + " makes " + std::to_string(host_count) +
                " pods: make them equal")};
}

// Checks slots with the library's own parser. Values from outside the manifest are skipped.
Findings check_slots(const Workload& workload) {
  const std::string most = std::to_string(cluster::kMaxRanks);
  const std::string remedy = ", but a host has 1 to " + most + ": use a number in this range";
  for (const Tree& each : list_at(workload.main_container(), "env")) {
    if (text_at(each, "name") != "ROTA_SLOTS" || find(each, "valueFrom") != nullptr) continue;
    const std::string value = text_at(each, "value");
    if (value.find("$(") != std::string::npos) continue;
    const std::vector<std::string> entries = {"ROTA_SLOTS=" + value};
    try {
      cluster::Environment(entries).number("ROTA_SLOTS", {.least = 1, .most = cluster::kMaxRanks});
    } catch (const Error&) {
      return {error(workload.container_field("env") + ": ROTA_SLOTS is " +
                    (value.empty() ? "empty" : value) + remedy)};
    }
  }
  const char* field = "spec.trainer.numProcPerNode";
  const Tree* slots = find(*workload.object, field);
  if (workload.kind != "TrainJob" || slots == nullptr || !slots->is_number_integer()) return {};
  if (is_rank_count(count_at(*workload.object, field))) return {};
  return {error(workload.object_field(field) + " is " + shown(*slots) + remedy)};
}

// Returns rotarun's options; empty if rotarun refuses the words or only the kubelet knows them.
std::optional<launcher::Options> options_of(const Workload& workload) {
  const auto words = workload.words();
  const bool is_whole = std::ranges::none_of(
      words, [](const std::string& word) { return word.find("$(") != std::string::npos; });
  if (words.empty() || !is_whole) return std::nullopt;
  try {
    return launcher::parse_options(words);
  } catch (const launcher::UsageError&) {  // Another rule reports the error.
    return std::nullopt;
  }
}

// Compares -np with hosts times slots. Without numProcPerNode, fewer ranks are only a hint, since
// hosts may stay without ranks, and --oversubscribe allows more ranks.
Findings starts_its_ranks(const Workload& workload, bool says_slots) {
  const auto options = options_of(workload);
  const auto world_size = workload.world_size();
  const std::size_t host_count = workload.host_count.value_or(1);
  if (!options || !options->rank_count || options->this_host) return {};
  const bool is_told = count_at(*workload.object, "spec.trainer.numProcPerNode").has_value();
  if (!(says_slots || is_told) || host_count < 2 || !world_size) return {};
  const std::size_t ranks = *options->rank_count;
  const bool is_fewer = ranks < *world_size;
  if (ranks == *world_size || (!is_fewer && !is_told && options->oversubscribe)) return {};
  const std::string text = workload.container_field("command") + ": -np is " +
                           std::to_string(ranks) + ", but " + std::to_string(host_count) +
                           " hosts times " + std::to_string(workload.slot_count()) + " slots are " +
                           std::to_string(*world_size) + ": leave it out, or make them equal";
  return {is_fewer && !is_told ? hint(text) : error(text)};
}

Findings declares_its_ranks(const Manifest& /*manifest*/, const Workload& workload) {
  if (Findings findings = check_slots(workload); !findings.empty()) return findings;
  const auto variables = workload.variables();
  const Variable* world = find_variable(variables, "ROTA_WORLD");
  const Variable* slots = find_variable(variables, "ROTA_SLOTS");
  if (workload.host_list()) return {};  // Each host may have its own slots.
  // Without ROTA_SLOTS, a list of tasks declares one rank for each task.
  const bool has_tasks = find_variable(variables, "TF_CONFIG") != nullptr;
  const bool says_slots = slots == nullptr ? has_tasks : to_count(slots->value).has_value();
  if (auto findings = starts_its_ranks(workload, says_slots); !findings.empty()) return findings;
  if (world == nullptr || slots == nullptr || !workload.host_count) return {};
  const auto world_size = to_count(world->value);
  const auto slot_count = to_count(slots->value);
  if (!world_size || !is_rank_count(slot_count) || !is_rank_count(workload.host_count)) return {};
  const std::size_t expected = *slot_count * *workload.host_count;
  if (*world_size == expected) return {};
  return {error(workload.container_field("env") + ": ROTA_WORLD is " + world->value + ", but " +
                std::to_string(*workload.host_count) + " pods of " + slots->value + " slots make " +
                std::to_string(expected) + " ranks: make them equal")};
}

Findings says_how_many_nodes(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "TrainJob") return {};
  const Tree& object = *workload.object;
  if (find(object, "spec.trainer") == nullptr) {
    return {
        error(workload.object_field("spec.trainer") +
              " is missing, but without it no pod knows which node it is: add it, with numNodes")};
  }
  if (workload.host_count) return {};
  return {error(workload.object_field("spec.trainer.numNodes") +
                " is missing, so the world has the size of the runtime's default: add it")};
}

Findings has_its_runtime(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "TrainJob" || workload.pods_owner != nullptr) return {};
  return {hint(workload.object_field("spec.runtimeRef") + " names " +
               shown(text_at(*workload.object, "spec.runtimeRef.name")) +
               ", which is in none of these files, so its pods were not checked")};
}

Findings is_told_by_trainer(const Manifest& /*manifest*/, const Workload& workload) {
  if (!workload.is_trainers() || workload.pod_spec().empty()) return {};
  Findings findings;
  if (find(*workload.pods_owner, "spec.mlPolicy.torch") == nullptr) {
    findings.push_back(error(
        name_of(*workload.pods_owner) +
        ": spec.mlPolicy.torch is missing, but it tells the pods their number: add it, as {}"));
  }
  const std::string name = text_at(workload.main_container(), "name");
  if (name != "node") {
    findings.push_back(
        error(workload.container_field("name") + " is " + shown(name) +
              ", but Trainer tells only the container node about the world: give it this name"));
  }
  const auto variables = workload.variables();
  const Variable* hosts = find_variable(variables, "ROTA_HOSTS");
  const auto list = workload.host_list();
  const auto declared = list ? list->names.size() : to_count(hosts == nullptr ? "" : hosts->value);
  if (hosts != nullptr && workload.host_count && declared != workload.host_count) {
    findings.push_back(error(workload.container_field("env") + ": ROTA_HOSTS is " +
                             shown_value(hosts) + ", but " + workload.host_count_field + " is " +
                             std::to_string(*workload.host_count) +
                             ": leave it out, because Trainer tells the pods their number"));
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

// Checks that the pods know their JobSet. Without these variables the pods look like those of an
// Indexed Job, which counts no restarts.
Findings knows_its_set(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "JobSet" || workload.pod_spec().empty()) return {};
  const auto variables = workload.variables();
  Findings findings;
  for (const auto& [name, label] : kLabels) {
    const std::string path = "metadata.labels['jobset.sigs.k8s.io/" + std::string(label) + "']";
    const Variable* variable = find_variable(variables, name);
    if (variable != nullptr && variable->field_path == path) continue;
    const std::string text =
        workload.container_field("env") + ": " + std::string(name) +
        (variable == nullptr ? " is missing" : " is taken from another field") +
        ": take it from the fieldPath " + path;
    const bool is_needed = variable != nullptr || workload.job_count > 1;
    findings.push_back(is_needed ? error(text) : hint(text));
  }
  return findings;
}

Findings counts_from_its_start(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.kind != "StatefulSet" || workload.names_its_hosts()) return {};
  const std::size_t start = count_at(*workload.object, "spec.ordinals.start").value_or(0);
  const auto variables = workload.variables();
  const Variable* told = find_variable(variables, "ROTA_ORDINAL_START");
  const std::string value = told == nullptr ? "0" : told->value;
  if (value == std::to_string(start)) return {};
  return {error(workload.object_field("spec.ordinals.start") + " is " + std::to_string(start) +
                ", which a pod cannot see, but ROTA_ORDINAL_START is " + shown_value(told) +
                ": make it \"" + std::to_string(start) + "\"")};
}

constexpr std::array kWorldRules = {
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

std::span<const Rule> rules_of_world() { return kWorldRules; }

}  // namespace rota::manifest
