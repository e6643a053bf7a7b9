// Gives hints about pods that do not find each other: a pod's own files tell which field of its
// manifest to correct. Each hint is appended to an error message, and may be empty.
#pragma once
#include <string>
#include <vector>

#include "base/time.h"

namespace rota::launcher {

// On a host that is not a pod, all fields are empty, and there is no hint.
struct PodFacts {
  std::string hosts{};        // /etc/hosts
  std::string resolv_conf{};  // /etc/resolv.conf
};

PodFacts read_pod_facts(const std::vector<std::string>& environment);

// Returns a hint if other pods do not find this pod, which they know by `name`, or if this pod does
// not find them. Possible reasons: this pod has no subdomain, or a wrong one, or it uses the name
// servers of its node. The hint is empty if the files of this pod show no such reason.
std::string naming_trouble(const PodFacts& pod, const std::string& name);

// Returns a hint if the pods with these names are absent. An unknown name is empty.
std::string absence_hint(const PodFacts& pod, const std::vector<std::string>& names);

// Returns a hint if a name has no record yet, after a wait of `waited`.
std::string record_hint(const PodFacts& pod, base::Duration waited);

// Returns a hint if a port is in use on this host.
std::string port_hint(const PodFacts& pod);

}  // namespace rota::launcher
