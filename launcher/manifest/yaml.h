// Trees as YAML, and YAML as trees: what Kubernetes' own tools read and write.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/manifest/tree.h"

namespace rota::manifest {

class YamlError : public std::runtime_error {
 public:
  explicit YamlError(const std::string& text) : std::runtime_error(cut(on_one_line(text))) {}
};

// One document each. Texts that would be read as something else are quoted.
std::string to_yaml(const std::vector<Tree>& objects);

// Far more than any job has.
inline constexpr std::size_t kMostYamlBytes = std::size_t{4} << 20;

// Reads one text after the other. Its bounds are for all of them together, so that many small ones
// cost no more than a large one.
class YamlReader {
 public:
  // Takes every document that is not empty; the items of a List are objects of their own. Scalars
  // are what Kubernetes takes them for: 0400 is 256, yes is true. Throws YamlError, which says the
  // line.
  void read(std::string text);

  std::vector<Tree> take() { return std::move(objects_); }

 private:
  std::vector<Tree> objects_;
  std::size_t text_bytes_ = 0;
  std::size_t tree_bytes_ = 0;
};

// The objects of one text.
std::vector<Tree> from_yaml(std::string text);

}  // namespace rota::manifest
