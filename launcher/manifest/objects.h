// The objects of a job, as they are applied.
#pragma once
#include <string>
#include <vector>

#include "launcher/manifest/parameters.h"
#include "launcher/manifest/tree.h"

namespace rota::manifest {

// In the order in which they are to be made. `key` becomes the Secret's where one is to be printed.
std::vector<Tree> objects_of(const Parameters& parameters, const std::string& key);

// As a Secret has it.
std::string to_base64(const std::string& bytes);

}  // namespace rota::manifest
