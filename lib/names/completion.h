// Which absolute names a name may be short for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "names/resolv_conf.h"

namespace rota::names {

// The names to ask for in turn, each with its last dot; none where it is no name. A name that ends
// with a dot is what it says, and all others are completed with domains of the search list.
//
// Outside of Kubernetes that goes as the system does it: as it stands before or after the completed
// ones, by `ndots`. In Kubernetes, which shows in the search list, a record is missing until its
// pod is there, and what is asked as it stands goes out of the cluster, where somebody else's host
// may answer. So there
//   pod.service, pod.service.namespace   are completed below svc.ZONE, and asked in no other form;
//   service.namespace.svc                becomes that of ZONE;
//   names in ZONE                        are asked as they stand;
//   names of more labels                 are no pod's: first as they stand, then below svc.ZONE.
std::vector<std::string> complete(std::string_view name, const ResolvConf& conf);

// "cluster.local" where the search list has "NAMESPACE.svc.cluster.local".
std::optional<std::string> cluster_zone(const std::vector<std::string>& search);

}  // namespace rota::names
