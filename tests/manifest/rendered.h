// Has manifests as rotarun render prints them. Tests put mistakes into them.
#pragma once
#include <string>
#include <vector>

#include "launcher/manifest/objects.h"
#include "launcher/manifest/rules.h"

namespace rota::manifest {

inline Parameters parameters_of(Kind kind) {
  return {.name = "mnist",
          .image = "rota-mnist",
          .kind = kind,
          .worker_count = 4,
          .slot_count = 2,
          .restart_count = 3,
          .command_line = {"mnist", "--model", "mlp"},
          .grace_seconds = 20,
          .first_port = 7700};
}

inline std::vector<Tree> rendered(Kind kind) {
  return objects_of(parameters_of(kind), std::string(32, 'k'));
}

// Returns the object of that kind.
inline Tree& of_kind(std::vector<Tree>& objects, const std::string& kind) {
  for (Tree& object : objects) {
    if (text_at(object, "kind") == kind) return object;
  }
  throw std::out_of_range(kind);
}

}  // namespace rota::manifest
