// Has the common code of the sources for Kubernetes, where each pod knows its own index.
#pragma once
#include <optional>
#include <string>

#include "cluster/environment.h"
#include "cluster/host_names.h"
#include "cluster/sources.h"

namespace rota::cluster {

// Throws Error kInvalidArgument if `index` is not below `count`. `index_name` and `count_name` are
// the names of the variables.
void require_among(const std::string& index_name, std::size_t index, const std::string& count_name,
                   std::size_t count);

// Reads PET_NPROC_PER_NODE. `of_each` is a number that holds for every host. `of_own` is the number
// of CUDA devices of this host alone: "gpu" means this number, and so does "auto" on a host with
// devices. Both are empty if the variable is not set, or if it leaves the number open: "cpu", and
// "auto" without devices. Throws Error kInvalidArgument for "gpu" on a host without devices.
struct ProcessCount {
  std::optional<std::size_t> of_each{};
  std::optional<std::size_t> of_own{};
};
ProcessCount read_process_count(const Given& given);

// Declares the count as the slots of the hosts. Requires that `specification.own_host` is known if
// `of_own` is set.
void add_process_count(const ProcessCount& count, Specification& specification);

// Gives host 0 the name and port of the rendezvous, for sources that name no other host. Throws
// Error kInvalidArgument if other hosts would have to reach host 0 by a loopback name.
void name_first(std::optional<RendezvousEndpoint> rendezvous, Specification& specification);

// Returns the pod's name, split after its last hyphen; the ordinal stays 0. `end` is the end of the
// name that the pod's indices require, "-2" or "-0-2". If the name has another end, throws Error
// kInvalidArgument that names the variable `index_name`.
PodName pod_of(const std::string& host_name, const std::string& end, const std::string& index_name);

}  // namespace rota::cluster
