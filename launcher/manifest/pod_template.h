// Makes the pod template of the hosts of a job, the same for every kind of workload.
#pragma once
#include "launcher/manifest/object_tree.h"
#include "launcher/manifest/parameters.h"

namespace rota::manifest {

// Returns the labels of every object of the job. The Service selects its pods by them.
Tree labels_of(const Parameters& parameters);

// Returns a pod template: metadata and spec.
Tree pod_template(const Parameters& parameters);

// Returns the name of the Secret with the key.
std::string key_secret_of(const Parameters& parameters);

// Returns the memory limit for a job without --memory, in Mi: "512Mi".
std::string memory_by_formula(const Parameters& parameters);

}  // namespace rota::manifest
