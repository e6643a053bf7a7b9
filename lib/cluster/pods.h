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

// PET_NPROC_PER_NODE; empty where it leaves the number open: "auto", "cpu", "gpu".
std::optional<std::size_t> read_process_count(const Environment& environment);

// The first host's name and port, where only these are told. Throws Error kInvalidArgument where
// others are to reach it by a loopback name.
void name_first(std::optional<Meeting> meeting, Specification& specification);

// The pod whose name ends with these indices, "-2" or "-0-2"; throws Error kInvalidArgument, naming
// the variable that `index_name` is, where this one's does not.
PodName pod_of(const std::string& host_name, const std::string& end, const std::string& index_name);

}  // namespace rota::cluster
