// All objects that are checked together, and those among them that start rotarun.
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

  // The first object of a name; null where there is none. A namespace that is not said is one of
  // its own.
  const Tree* named(std::string_view kind, std::string_view name_space,
                    std::string_view name) const;

  // The Services whose selector begins with that label.
  std::vector<const Tree*> services_of(std::string_view name_space, std::string_view label,
                                       std::string_view value) const;

  std::vector<Tree> objects;
  std::vector<Workload> workloads;

 private:
  // Of what workloads look for, since both may be many. Keys are the objects' own texts.
  using Index = std::multimap<std::array<std::string_view, 3>, const Tree*>;

  void index(const Tree& object);

  Index by_name_;      // Kind, namespace, name.
  Index by_selector_;  // Namespace, name and value of the first label.
};

}  // namespace rota::manifest
