// Finds in a pod's own files why pods do not find each other, so that rotarun's error message
// names the field to correct.
#include "launcher/hosts/rendezvous/pod_hints.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cluster/environment.h"
#include "names/completion.h"
#include "names/resolv_conf.h"
#include "names/words.h"

namespace rota::launcher {
namespace {

// How the kubelet begins the file /etc/hosts of a pod with its own network, and of a pod with its
// node's network. A pod may also bring its own file.
constexpr std::string_view kOwnNetwork = "# Kubernetes-managed hosts file.";
constexpr std::string_view kNodesNetwork = "# Kubernetes-managed hosts file (host network)";

// Longer than a name server needs to learn about a pod.
constexpr std::chrono::seconds kLong{15};

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string_view> labels_of(std::string_view name) {
  std::vector<std::string_view> labels;
  for (;;) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    labels.push_back(name.substr(0, dot));
    if (dot == name.size()) return labels;
    name.remove_prefix(dot + 1);
  }
}

// Returns the Service in the name of a pod: "mnist" for mnist-1.mnist and mnist-1.mnist.space.svc.
// Returns nothing for another name, such as the Service's own name, mnist.space.svc.
std::string_view service_of(const std::vector<std::string_view>& labels) {
  const bool is_service = labels.size() > 2 && names::same_name(labels[2], "svc");
  return labels.size() < 2 || is_service ? "" : labels[1];
}

// Returns the names that the kubelet has written into /etc/hosts for this pod, such as
// mnist-1.mnist.space.svc.cluster.local and mnist-1. They are in the file's last line with `label`.
std::vector<std::string_view> own_names(const PodFacts& pod, std::string_view label) {
  std::vector<std::string_view> own;
  for (const std::string_view line : names::lines_of(pod.hosts)) {
    const auto words = names::words_of(line);
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (names::same_name(words[i], label)) own.assign(words.begin() + 1, words.end());
    }
  }
  return own;
}

}  // namespace

PodFacts read_pod_facts(const std::vector<std::string>& environment) {
  if (!cluster::is_set(environment, "KUBERNETES_SERVICE_HOST")) return {};
  return {.hosts = text_of("/etc/hosts"), .resolv_conf = text_of("/etc/resolv.conf")};
}

std::string naming_trouble(const PodFacts& pod, const std::string& name) {
  const names::ResolvConf conf = names::parse_resolv_conf(pod.resolv_conf, "");
  if (pod.hosts.starts_with(kNodesNetwork)) {
    if (names::cluster_zone(conf.search)) return {};
    return "; this pod has hostNetwork: true and uses its node's name servers, which do not know "
           "pods: set "
           "spec.dnsPolicy: ClusterFirstWithHostNet";
  }
  const std::vector<std::string_view> labels = labels_of(name);
  const std::string service(service_of(labels));
  const auto own = own_names(pod, labels.front());
  if (!pod.hosts.starts_with(kOwnNetwork) || service.empty() || own.empty()) return {};
  const std::vector<std::string_view> own_labels = labels_of(own.front());
  const std::string end = ", so no host finds it as " + name + ": set spec.subdomain to " +
                          service + ", the name of the headless Service";
  if (own_labels.size() == 1) return "; this pod has no spec.subdomain" + end;
  if (names::same_name(own_labels[1], service)) return {};
  return "; this pod's spec.subdomain is " + std::string(own_labels[1]) + end;
}

std::string absence_hint(const PodFacts& pod, const std::vector<std::string>& names) {
  if (pod.hosts.empty() || names.empty()) return {};
  const bool is_one = names.size() == 1 && !names.front().empty();
  const std::string command =
      is_one ? "describe pod " + std::string(labels_of(names.front()).front()) : "get pods";
  return std::string("; rotarun cannot see whether ") +
         (names.size() == 1 ? "its pod is suspended, pending or pulling its image"
                            : "their pods are suspended, pending or pulling their images") +
         ": try kubectl " + command;
}

std::string record_hint(const PodFacts& pod, base::Duration waited) {
  if (pod.hosts.empty()) return {};
  std::string text = "; a name server may give an old answer from its cache for a while";
  if (waited < kLong) return text;
  return text +
         "; while a pod is not ready, the name server has a record of it only if its Service has "
         "publishNotReadyAddresses: true";
}

std::string port_hint(const PodFacts& pod) {
  if (!pod.hosts.starts_with(kNodesNetwork)) return {};
  return "; with hostNetwork: true, all such pods on a node share its ports: put them on different "
         "nodes with podAntiAffinity";
}

}  // namespace rota::launcher
