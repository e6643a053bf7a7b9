// Trees as YAML, and YAML as trees: what Kubernetes' own tools read and write.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/manifest/tree.h"

namespace rota::manifest {

class YamlError : public std::runtime_error {
 public:
  explicit YamlError(const std::string& text) : std::runtime_error(on_one_line(text)) {}
};

// One document each. Texts that would be read as something else are quoted.
std::string to_yaml(const std::vector<Tree>& objects);

// Every document that is not empty; the items of a List are objects of their own. Scalars are what
// Kubernetes takes them for: 0400 is 256, yes is true. Throws YamlError, which says the line.
std::vector<Tree> from_yaml(const std::string& text);

}  // namespace rota::manifest
