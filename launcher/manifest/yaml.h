// Converts trees to YAML and back, as Kubernetes' own tools read and write it.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/manifest/object_tree.h"

namespace rota::manifest {

class YamlError : public std::runtime_error {
 public:
  explicit YamlError(const std::string& text) : std::runtime_error(cut(on_one_line(text))) {}
};

// Writes one document for each object. Quotes a string that would be read as another type.
std::string to_yaml(const std::vector<Tree>& objects);

// The limit of the length of a text. No job needs nearly as much.
inline constexpr std::size_t kMostYamlBytes = std::size_t{4} << 20;

// Reads several texts, one after another. The limits apply to all texts together, so that many
// small texts cost at most as much as one large text.
class YamlReader {
 public:
  // Reads every document that is not empty. Each item of a List becomes an object of its own.
  // Scalars have the types that Kubernetes gives them: 0400 is 256, yes is true. Throws YamlError,
  // which names the line.
  void read(std::string text);

  std::vector<Tree> take() { return std::move(objects_); }

 private:
  std::vector<Tree> objects_;
  std::size_t text_bytes_ = 0;
  std::size_t tree_bytes_ = 0;
};

// Returns the objects of one text.
std::vector<Tree> from_yaml(std::string text);

}  // namespace rota::manifest
