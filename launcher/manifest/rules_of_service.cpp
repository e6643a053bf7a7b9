// Has the rules about the Service by which pods find each other.
#include <algorithm>
#include <array>
#include <map>

#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

using Services = std::vector<const Tree*>;

using Labels = std::map<std::string, Tree>;

// Returns the labels of the pods, including those that the Job controller adds.
Labels labels_of_pods(const Workload& workload) {
  Labels labels;
  for (const auto& [name, value] : workload.pod_labels().items()) labels[name] = value;
  if (workload.kind == "Job") {
    labels["job-name"] = workload.name;
    labels["batch.kubernetes.io/job-name"] = workload.name;
  }
  return labels;
}

bool selects(const Tree& service, const Labels& labels) {
  const Tree& selector = map_at(service, "spec.selector");
  const auto is_label = [&](const auto& pair) {
    const auto found = labels.find(pair.key());
    return found != labels.end() && found->second == pair.value();
  };
  const auto pairs = selector.items();
  return !selector.empty() && std::all_of(pairs.begin(), pairs.end(), is_label);
}

bool is_headless(const Tree& service) { return text_at(service, "spec.clusterIP") == "None"; }

bool publishes(const Tree& service) {
  return is_at(service, "spec.publishNotReadyAddresses", true);
}

Services selecting(const Manifest& manifest, const Workload& workload) {
  const Labels labels = labels_of_pods(workload);
  Services all;
  for (const auto& [name, value] : labels) {
    for (const Tree* service :
         manifest.services_of(workload.name_space, name, view_at(value, ""))) {
      if (selects(*service, labels)) all.push_back(service);
    }
  }
  return all;
}

bool are_several(const Workload& workload) { return workload.host_count.value_or(1) > 1; }

// Returns whether the user must write a Service for the pods. A JobSet makes its own Service.
bool needs_service(const Workload& workload) {
  const bool is_kind = workload.kind == "Job" || workload.kind == "StatefulSet";
  return is_kind && are_several(workload);
}

std::string field_of_service(const Workload& workload) {
  return workload.kind == "StatefulSet" ? workload.object_field("spec.serviceName")
                                        : workload.pod_field("subdomain");
}

// Returns the name of the pods' Service. A JobSet's Service has the name of the set, unless the set
// names another one.
std::string named_service(const Workload& workload) {
  if (workload.kind == "StatefulSet") return text_at(*workload.object, "spec.serviceName");
  if (workload.kind != "JobSet") return text_at(workload.pod_spec(), "subdomain");
  const std::string subdomain = text_at(*workload.object, "spec.network.subdomain");
  return subdomain.empty() ? workload.name : subdomain;
}

const Tree* find_service(const Manifest& manifest, const Workload& workload) {
  return manifest.named("Service", workload.name_space, named_service(workload));
}

Findings names_its_service(const Manifest& manifest, const Workload& workload) {
  if (!needs_service(workload) || find_service(manifest, workload) != nullptr) return {};
  Services others = selecting(manifest, workload);
  std::erase_if(others, [](const Tree* service) { return !is_headless(*service); });
  const std::string name = named_service(workload);
  const std::string field = field_of_service(workload);
  if (!others.empty()) {
    return {error(field + " is " + (name.empty() ? "missing" : name) +
                  ", but another Service selects these pods: make it " +
                  text_at(*others.front(), "metadata.name"))};
  }
  if (name.empty()) {
    return {error(field + " is missing, so pods have no names by which they find each other: make "
                          "it the name of a headless Service")};
  }
  return {hint(field + " is " + name +
               ", but that Service is in none of these files: it must exist before the pods, "
               "headless and with publishNotReadyAddresses")};
}

Findings is_service_headless(const Manifest& manifest, const Workload& workload) {
  const Tree* service = needs_service(workload) ? find_service(manifest, workload) : nullptr;
  if (service == nullptr || is_headless(*service)) return {};
  return {error(name_of(*service) + ": spec.clusterIP is not None, so its name has one address, "
                                    "and the pods have no names: make it None")};
}

Findings does_service_select(const Manifest& manifest, const Workload& workload) {
  const Tree* service = needs_service(workload) ? find_service(manifest, workload) : nullptr;
  if (service == nullptr || selects(*service, labels_of_pods(workload))) return {};
  const Tree& selector = map_at(*service, "spec.selector");
  return {error(name_of(*service) + ": spec.selector is " +
                (selector.empty() ? "missing" : shown(selector)) +
                ", which selects none of the pods of " + name_of(*workload.object) +
                ": use labels that they have, " + shown(workload.pod_labels()))};
}

Findings does_service_publish(const Manifest& manifest, const Workload& workload) {
  const Tree* service = needs_service(workload) ? find_service(manifest, workload) : nullptr;
  if (service == nullptr || publishes(*service)) return {};
  return {error(name_of(*service) +
                ": spec.publishNotReadyAddresses is not true, so a pod has no name before it is "
                "ready, but it is ready only after it has found the other pods: make it true")};
}

// Checks single pods with one Service each, as TFJob makes them.
Findings is_pod_found(const Manifest& manifest, const Workload& workload) {
  if (workload.kind != "Pod") return {};
  Findings findings;
  const bool waits = text_at(workload.main_container(), "readinessProbe.httpGet.path") == "/readyz";
  for (const Tree* service : selecting(manifest, workload)) {
    if (!is_headless(*service)) {
      findings.push_back(error(name_of(*service) + ": spec.clusterIP is not None, so its name does "
                                                   "not give the pod's address: make it None"));
    }
    if (waits && !publishes(*service)) {
      findings.push_back(error(workload.container_field("readinessProbe") +
                               " waits for the other pods, but with " + name_of(*service) +
                               " they cannot find a pod that is not ready: leave out the probe, or "
                               "set publishNotReadyAddresses: true in the Service"));
    }
  }
  return findings;
}

// The API takes a single port without a name.
Findings are_ports_named(const Manifest& manifest, const Workload& workload) {
  Findings findings;
  for (const Tree* service : selecting(manifest, workload)) {
    const Tree& ports = list_at(*service, "spec.ports");
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (ports.size() == 1 || !text_at(ports[i], "name").empty()) continue;
      findings.push_back(error(name_of(*service) + ": spec.ports[" + std::to_string(i) +
                               "].name is missing, and the API refuses a Service that has several "
                               "ports without names: add a name, such as rendezvous"));
    }
  }
  return findings;
}

// Checks that the pods know the Service. In a JobSet, JOBSET_NAME can replace ROTA_SERVICE.
Findings tells_the_service(const Manifest& /*manifest*/, const Workload& workload) {
  const bool is_kind = workload.kind == "JobSet" || needs_service(workload);
  if (!is_kind || !are_several(workload) || workload.names_its_hosts()) return {};
  const auto variables = workload.variables();
  const Variable* told = find_variable(variables, "ROTA_SERVICE");
  // A value that the kubelet fills in is unknown here.
  const bool is_known =
      told == nullptr || (told->field_path.empty() && told->value.find("$(") == std::string::npos);
  if (!is_known) return {};
  const bool is_of_set = workload.kind == "JobSet" && find_variable(variables, "JOBSET_NAME");
  const std::string name = named_service(workload);
  const std::string otherwise = is_of_set ? workload.name : "";
  const std::string value = told == nullptr ? otherwise : told->value;
  if (value == name || value.starts_with(name + ".")) return {};
  const std::string field = workload.kind == "StatefulSet" ? "spec.serviceName" : "subdomain";
  return {error(workload.container_field("env") + ": ROTA_SERVICE is " + shown_value(told) +
                ", but " + (name.empty() ? field + " is missing" : "the pods' Service is " + name) +
                ": make them the same, or no pod finds host 0")};
}

Findings has_a_network(const Manifest& /*manifest*/, const Workload& workload) {
  const bool is_runtime = workload.is_trainers();
  if (workload.pods_owner == nullptr || (workload.kind != "JobSet" && !is_runtime)) return {};
  const std::string path = is_runtime ? "spec.template.spec.network" : "spec.network";
  const Tree& owner = *workload.pods_owner;
  Findings findings;
  // Without DNS hostnames, the JobSet makes no headless Service, and gives its pods no subdomain.
  const auto require = [&](const std::string& field, const std::string& otherwise) {
    if (!is_at(owner, path + "." + field, false)) return;
    findings.push_back(error(name_of(owner) + ": " + path + "." + field + " is false, so " +
                             otherwise + ": make it true"));
  };
  require("enableDNSHostnames", "the pods have no names");
  require("publishNotReadyAddresses", "pods do not find each other by name before they are ready");
  return findings;
}

constexpr std::array kServiceRules = {
    Rule{"subdomain, or serviceName, as the Service's name", names_its_service},
    Rule{"clusterIP: None", is_service_headless},
    Rule{"a selector that selects the pods", does_service_select},
    Rule{"publishNotReadyAddresses: true", does_service_publish},
    Rule{"the Services of single pods", is_pod_found},
    Rule{"names of ports", are_ports_named},
    Rule{"ROTA_SERVICE as the Service's name", tells_the_service},
    Rule{"the network of a set", has_a_network},
};

}  // namespace

std::span<const Rule> rules_of_service() { return kServiceRules; }

}  // namespace rota::manifest
