// The pod that every host of a job is, whatever makes it.
#pragma once
#include "launcher/manifest/parameters.h"
#include "launcher/manifest/tree.h"

namespace rota::manifest {

// Of every object of the job, and what a Service finds its pods by.
Tree labels_of(const Parameters& parameters);

// A pod template: metadata and spec.
Tree pod_template(const Parameters& parameters);

// The name of the Secret with the key.
std::string key_secret_of(const Parameters& parameters);

// The memory limit in bytes, where nobody gave one.
std::string memory_by_formula(const Parameters& parameters);

}  // namespace rota::manifest
