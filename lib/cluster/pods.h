// What sources in Kubernetes have in common: pods that know their own index.
#pragma once
#include <optional>
#include <string>

#include "cluster/environment.h"
#include "cluster/host_names.h"
#include "cluster/sources.h"

namespace rota::cluster {

// Throws Error kInvalidArgument where `index` is not below `count`; the names are the variables'.
void require_among(const std::string& index_name, std::size_t index, const std::string& count_name,
                   std::size_t count);

// PET_NPROC_PER_NODE: the same number for each host; or what it means on this one alone, as "gpu"
// is the number of its CUDA devices, and so is "auto" where it has some. Both are empty where it is
// not set, and where it leaves the number open: "cpu", and "auto" without devices. Throws Error
// kInvalidArgument for "gpu" on a host without.
struct ProcessCount {
  std::optional<std::size_t> of_each{};
  std::optional<std::size_t> of_own{};
};
ProcessCount read_process_count(const Given& given);

// Declares it for the hosts, of which the own one is known.
void add_process_count(const ProcessCount& count, Specification& specification);

// The first host's name and port, where only these are told. Throws Error kInvalidArgument where
// others are to reach it by a loopback name.
void name_first(std::optional<Meeting> meeting, Specification& specification);

// The pod whose name ends with these indices, "-2" or "-0-2"; throws Error kInvalidArgument, naming
// the variable that `index_name` is, where this one's does not.
PodName pod_of(const std::string& host_name, const std::string& end, const std::string& index_name);

}  // namespace rota::cluster
