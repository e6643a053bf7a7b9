// Finds the absolute names that a short name may stand for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "names/resolv_conf.h"

namespace rota::names {

// Returns the names to ask for, in this order, each with its last dot. Returns none if `name` is
// not a valid name. A name that ends with a dot stays unchanged. All other names are completed with
// domains of the search list.
//
// Outside of Kubernetes, the names are those that the system's resolver would try. `ndots` decides
// whether the unchanged name comes before or after the completed names. The search list shows
// whether this is Kubernetes. In Kubernetes, a pod has no record until the pod exists. Before that,
// a question for the unchanged name leaves the cluster, and a host outside may answer. So in
// Kubernetes:
//   names of one to three labels, such   are completed only with the domains of the search list
//   as pod.service.namespace             in svc.ZONE: NAMESPACE.svc.ZONE and svc.ZONE;
//   names that end with .svc             are completed with ZONE;
//   names in ZONE                        stay unchanged;
//   other names with more labels         are not names of pods: they are asked for unchanged first,
//                                        and then completed with the domains in svc.ZONE.
std::vector<std::string> complete(std::string_view name, const ResolvConf& conf);

// Returns "cluster.local" if the search list has "NAMESPACE.svc.cluster.local", and nothing outside
// of Kubernetes.
std::optional<std::string> cluster_zone(const std::vector<std::string>& search);

}  // namespace rota::names
