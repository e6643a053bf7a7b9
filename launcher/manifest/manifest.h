// All objects that are checked together, and those among them that start rotarun.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "launcher/manifest/workload.h"

namespace rota::manifest {

struct Manifest {
  explicit Manifest(std::vector<Tree> all);
  Manifest(const Manifest&) = delete;  // Workloads point into the objects.
  Manifest& operator=(const Manifest&) = delete;

  // Of a kind, in a namespace: its own, where none is said.
  std::vector<const Tree*> of_kind(std::string_view kind, const std::string& name_space) const;

  std::vector<Tree> objects;
  std::vector<Workload> workloads;
};

}  // namespace rota::manifest
