// A Manifest has all objects that are checked together, and finds the workloads among them: the
// objects that start rotarun.
#pragma once
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "launcher/manifest/workload.h"

namespace rota::manifest {

struct Manifest {
  explicit Manifest(std::vector<Tree> all);
  Manifest(const Manifest&) = delete;  // Workloads point into the objects.
  Manifest& operator=(const Manifest&) = delete;

  // Returns the first object with this name, or null. Objects without a namespace form a namespace
  // of their own.
  const Tree* named(std::string_view kind, std::string_view name_space,
                    std::string_view name) const;

  // Returns the Services whose selector begins with this label.
  std::vector<const Tree*> services_of(std::string_view name_space, std::string_view label,
                                       std::string_view value) const;

  std::vector<Tree> objects;
  std::vector<Workload> workloads;

 private:
  // Indexes keep lookups fast: there may be many objects and many workloads. Keys point into the
  // objects.
  using Index = std::multimap<std::array<std::string_view, 3>, const Tree*>;

  void index(const Tree& object);

  Index by_name_;      // Kind, namespace, name.
  Index by_selector_;  // Namespace, name and value of the first label.
};

}  // namespace rota::manifest
