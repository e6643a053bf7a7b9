// Builds the Kubernetes objects of a job, which rotarun render prints.
#pragma once
#include <string>
#include <vector>

#include "launcher/manifest/object_tree.h"
#include "launcher/manifest/parameters.h"

namespace rota::manifest {

// Returns the objects in the order in which they must be created. `key` is the content of the
// Secret; it is unused if the parameters name an existing Secret.
std::vector<Tree> objects_of(const Parameters& parameters, const std::string& key);

// Encodes bytes in the form that a Secret's data need.
std::string to_base64(const std::string& bytes);

}  // namespace rota::manifest
