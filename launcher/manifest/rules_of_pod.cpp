// Has the rules about the pod: its command line, memory, cores, devices, probes, grace period and
// network.
#include <algorithm>
#include <array>
#include <chrono>

#include "launcher/command/options.h"
#include "launcher/job/exit_policy.h"
#include "launcher/manifest/contract.h"
#include "launcher/manifest/job_memory.h"
#include "launcher/manifest/quantity.h"
#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

bool has_memory_limit(const Workload& workload) {
  return find(workload.main_container(), "resources.limits.memory") != nullptr;
}

std::uint64_t parameters_of(const Workload& workload) {
  for (const Tree* object : {workload.object, workload.pods_owner}) {
    if (object == nullptr) continue;
    const Tree& notes = map_at(*object, "metadata.annotations");
    const auto note = notes.find(kParametersNote);
    if (note != notes.end() && note->is_string()) {
      return to_count(note->get<std::string>()).value_or(0);
    }
  }
  return 0;
}

Findings has_memory(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.pod_spec().empty()) return {};
  const std::string field = workload.container_field("resources.limits.memory");
  if (!has_memory_limit(workload)) {
    return {hint(field +
                 " is missing, so the pod may take its node's memory and then be evicted: set it")};
  }
  const std::string path = "resources.limits.memory";
  const auto limit = quantity_at(workload.main_container(), path);
  if (!limit) return {error(field + " is not an amount: write it like 512Mi")};
  const auto world_size = workload.world_size();
  if (!world_size) return {};
  const std::size_t slot_count = workload.slot_count();
  const std::uint64_t parameter_count = parameters_of(workload);
  const std::uint64_t need = memory_need({.slot_count = slot_count,
                                          .world_size = *world_size,
                                          .parameter_count = parameter_count,
                                          .encrypts = has_flag(workload.words(), "encrypt")});
  if (*limit >= static_cast<double>(need)) return {};
  return {error(field + " is " + shown(*find(workload.main_container(), path)) + ", but " +
                std::to_string(slot_count) + " ranks of a model of " +
                std::to_string(parameter_count) + " parameters need " + to_mebibytes(need) +
                " before the program has any data: raise it")};
}

Findings has_cores(const Manifest& /*manifest*/, const Workload& workload) {
  const auto limit = quantity_at(workload.main_container(), "resources.limits.cpu");
  if (!limit) return {};
  const std::string field = workload.container_field("resources.limits.cpu") + " is " +
                            shown(*find(workload.main_container(), "resources.limits.cpu"));
  if (*limit < 1) {
    return {error(field +
                  ", less than a core, so its ranks pause for a part of every tenth of a second, "
                  "and all other ranks wait for them: make it 1 or more, or leave it out")};
  }
  const std::size_t slot_count = workload.slot_count();
  if (*limit >= static_cast<double>(slot_count)) return {};
  return {hint(field + ", but " + std::to_string(slot_count) +
               " ranks share it: give each rank a core")};
}

Findings keeps_no_more_than_it_may_use(const Manifest& /*manifest*/, const Workload& workload) {
  constexpr double kRounding = 1 + 1e-9;  // 700m differs from 0.7 in the last digit.
  Findings findings;
  for (const char* resource : {"cpu", "memory"}) {
    const std::string path = std::string("resources.requests.") + resource;
    const std::string limit_path = std::string("resources.limits.") + resource;
    const auto request = quantity_at(workload.main_container(), path);
    const auto limit = quantity_at(workload.main_container(), limit_path);
    if (!request || !limit || *request <= *limit * kRounding) continue;
    findings.push_back(error(
        workload.container_field(path) + " is " + shown(*find(workload.main_container(), path)) +
        ", but the API refuses a request above the limit, which is " +
        shown(*find(workload.main_container(), limit_path)) + ": lower it, or raise the limit"));
  }
  return findings;
}

Findings has_devices(const Manifest& /*manifest*/, const Workload& workload) {
  const Tree& limits = map_at(workload.main_container(), "resources.limits");
  const auto found = limits.find("nvidia.com/gpu");
  if (found == limits.end()) return {};
  const auto count = to_count(found->is_string() ? found->get<std::string>() : shown(*found));
  const std::size_t slot_count = workload.slot_count();
  if (!count || *count == slot_count) return {};
  return {hint(workload.container_field("resources.limits") + ": nvidia.com/gpu is " +
               std::to_string(*count) + ", but there are " + std::to_string(slot_count) +
               " ranks; with equal numbers, each rank gets its own device: make them equal")};
}

Findings is_left_alone(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.pod_spec().empty()) return {};
  Findings findings;
  if (!is_at(workload.pod_spec(), "enableServiceLinks", false)) {
    findings.push_back(hint(workload.pod_field("enableServiceLinks") +
                            " is not false, so every rank gets variables for every Service of the "
                            "namespace: make it false"));
  }
  if (!is_at(workload.pod_spec(), "automountServiceAccountToken", false)) {
    findings.push_back(
        hint(workload.pod_field("automountServiceAccountToken") +
             " is not false, so the pods can use the API, which they do not need: make it false"));
  }
  return findings;
}

// Checks the command line with rotarun's own parser. A command line with $(VARIABLE) is not
// checked: only the kubelet knows the value.
Findings is_understood(const Manifest& /*manifest*/, const Workload& workload) {
  if (workload.hides_its_program()) {
    return {hint(workload.container_field("command") +
                 ": no item of this list is rotarun, so rotarun's options are not checked: make "
                 "rotarun an item, and each word after it an item of its own, as in [rotarun, "
                 "mnist]")};
  }
  const std::vector<std::string> words = workload.words();
  const bool is_whole = std::ranges::none_of(
      words, [](const std::string& word) { return word.find("$(") != std::string::npos; });
  if (workload.pod_spec().empty() || words.empty() || !is_whole) return {};
  try {
    launcher::parse_options(words);
    return {};
  } catch (const launcher::UsageError& error) {
    return {manifest::error(workload.container_field("command") +
                            ": rotarun would refuse it with " + "\"" + error.what() +
                            "\": see rotarun --help")};
  }
}

struct StatusPort {
  std::string address;
  std::string port;
};

// Splits an address at its last colon. Without a colon, the text is a port of the loopback address.
StatusPort split_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {"127.0.0.1", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "localhost" || address == "[::1]";
}

// Returns the number of a port, which may be given as the name of a container port. Empty if no
// container port has this name.
std::string number_of_port(const Workload& workload, const Tree& port) {
  if (!port.is_string()) return shown(port);
  for (const Tree& each : list_at(workload.main_container(), "ports")) {
    if (text_at(each, "name") != port.get<std::string>()) continue;
    const auto number = count_at(each, "containerPort");
    if (number) return std::to_string(*number);
  }
  return {};
}

Findings check_probe(const Workload& workload, const std::string& probe) {
  const Tree* port = find(workload.main_container(), probe + ".httpGet.port");
  if (port == nullptr) return {};
  const std::string field = workload.container_field(probe + ".httpGet.port") + " is " +
                            (port->is_string() ? port->get<std::string>() : shown(*port));
  const std::string number = number_of_port(workload, *port);
  if (number.empty())
    return {error(field + ", but no port of the container has this name: add the name to a port")};
  if (workload.hides_its_program()) return {};  // Another rule reports it.
  const auto flag = flag_value(workload.words(), "status-port");
  if (!flag) {
    return {error(field + ", but nothing answers there: add --status-port [::]:" + number +
                  " before the program")};
  }
  const StatusPort status = split_port(*flag);
  if (status.port != number) {
    return {error(field + ", which is " + number + ", but --status-port is " + status.port +
                  ": make them equal")};
  }
  if (!is_loopback(status.address)) return {};
  return {error(field + ", but --status-port " + *flag +
                " answers only inside the pod: make it [::]:" + number)};
}

Findings answers_probes(const Manifest& /*manifest*/, const Workload& workload) {
  Findings findings;
  for (const char* probe : {"startupProbe", "readinessProbe", "livenessProbe"}) {
    for (Finding& each : check_probe(workload, probe)) findings.push_back(std::move(each));
  }
  for (const char* probe : {"startupProbe", "livenessProbe"}) {
    const std::string path = std::string(probe) + ".httpGet.path";
    if (text_at(workload.main_container(), path) != "/readyz") continue;
    findings.push_back(
        error(workload.container_field(path) +
              " is /readyz, so a host that only waits for other hosts is killed: make it /livez"));
  }
  return findings;
}

std::optional<double> seconds_of_grace(const std::vector<std::string>& words) {
  const auto text = flag_value(words, "grace");
  const auto usual = std::chrono::duration<double>(launcher::kRequestGrace).count();
  if (!text) return usual;
  try {
    const auto options = launcher::parse_options({"--grace", *text, "program"});
    return std::chrono::duration<double>(options.grace.value()).count();
  } catch (const launcher::UsageError&) {  // rotarun itself reports the error.
    return std::nullopt;
  }
}

Findings ends_in_time(const Manifest& /*manifest*/, const Workload& workload) {
  constexpr std::size_t kUsual = 30;
  if (workload.pod_spec().empty()) return {};
  const std::size_t period =
      count_at(workload.pod_spec(), "terminationGracePeriodSeconds").value_or(kUsual);
  const auto grace = seconds_of_grace(workload.words());
  if (!grace || static_cast<double>(period) > *grace) return {};
  return {error(workload.pod_field("terminationGracePeriodSeconds") + " is " +
                std::to_string(period) + ", but --grace gives the ranks " + Tree(*grace).dump() +
                " seconds, so they are killed before they agree on a last step: make it longer")};
}

Findings resolves_on_the_host(const Manifest& /*manifest*/, const Workload& workload) {
  const std::string policy = text_at(workload.pod_spec(), "dnsPolicy");
  const bool is_on_host = is_at(workload.pod_spec(), "hostNetwork", true);
  if (!is_on_host || policy == "ClusterFirstWithHostNet") return {};
  return {error(workload.pod_field("dnsPolicy") + " is " + (policy.empty() ? "missing" : policy) +
                ", but with hostNetwork, pods then ask the node's name servers for the names of "
                "pods: make it ClusterFirstWithHostNet")};
}

// Returns whether rotarun must know the pod by its own name: if pods are found by their names, or
// if the host list has the names of pods, and not of nodes.
bool is_known_by_name(const Workload& workload) {
  const auto list = workload.host_list();
  if (!list) return !workload.names_its_hosts();
  return std::ranges::any_of(list->names,
                             [&](const std::string& name) { return workload.is_own_pod(name); });
}

Findings is_told_its_name(const Manifest& /*manifest*/, const Workload& workload) {
  const auto variables = workload.variables();
  const bool is_on_host = is_at(workload.pod_spec(), "hostNetwork", true);
  if (!is_on_host || !is_known_by_name(workload) || find_variable(variables, "ROTA_HOST"))
    return {};
  return {error(workload.container_field("env") +
                " has no ROTA_HOST, but with hostNetwork a pod has the name of its node: add "
                "ROTA_HOST with the name that the pod would have, as in " +
                workload.name + (workload.kind == "Pod" ? "" : "-$(POD_INDEX)"))};
}

constexpr std::array kPodRules = {
    Rule{"a command line that rotarun takes", is_understood},
    Rule{"a memory limit that ranks and buckets fit into", has_memory},
    Rule{"a CPU limit of a core or more", has_cores},
    Rule{"a request not above its limit", keeps_no_more_than_it_may_use},
    Rule{"a GPU for each rank", has_devices},
    Rule{"probes that reach --status-port", answers_probes},
    Rule{"terminationGracePeriodSeconds above --grace", ends_in_time},
    Rule{"dnsPolicy with hostNetwork", resolves_on_the_host},
    Rule{"ROTA_HOST with hostNetwork", is_told_its_name},
    Rule{"enableServiceLinks and automountServiceAccountToken", is_left_alone},
};

}  // namespace

std::span<const Rule> rules_of_pod() { return kPodRules; }

}  // namespace rota::manifest
