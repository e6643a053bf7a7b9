// What a pod's own files tell about why pods do not find each other, in words that name the field
// of its manifest.
#pragma once
#include <string>
#include <vector>

#include "base/time.h"

namespace rota::launcher {

// Of a host that is no pod all is empty, and nothing is said.
struct PodFacts {
  std::string hosts{};        // /etc/hosts
  std::string resolv_conf{};  // /etc/resolv.conf
};

PodFacts read_pod_facts(const std::vector<std::string>& environment);

// What follows a complaint that others do not find this pod, which they know by `name`; or that it
// does not find them: that it has no subdomain, or another, or another host's name servers. Empty
// where nothing is wrong with that.
std::string naming_trouble(const PodFacts& pod, const std::string& name);

// What follows a complaint that pods of these names are not here; of some there may be none.
std::string absence_hint(const PodFacts& pod, const std::vector<std::string>& names);

// What follows a complaint that a name has no record yet, after so long a wait.
std::string record_hint(const PodFacts& pod, base::Duration waited);

// What follows a complaint that a port is in use here.
std::string port_hint(const PodFacts& pod);

}  // namespace rota::launcher
