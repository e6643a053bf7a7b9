// A job of three pods on two nodes that trains in a namespace of its own until something befalls
// it.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cluster/kubectl.h"

namespace rota::testing {

class World {
 public:
  enum class Length { kShort, kEndless };  // Some epochs, or more than any test waits for.

  // `options` are those of rotarun render; `component` is one of k8s/components, or none.
  explicit World(const Arguments& options = {}, Length length = Length::kShort,
                 const std::string& component = {});

  const Namespace& place() const noexcept { return place_; }

  // Its pods, by index, once it trains; throws where it does not.
  std::vector<nlohmann::json> training_pods() const;

  // Of each pod that has failed, but for the one called so: how long after `moment`, by the clock
  // of this machine, it has said something with `text` in it; infinity where it has not.
  std::vector<double> seconds_until_said(const std::string& text,
                                         std::chrono::system_clock::time_point moment,
                                         const std::string& but = {}) const;

  // The end as end_of() has it, with the weights that host 0 has printed: "Complete
  // 594e98146f8cefbc".
  std::string end() const;

 private:
  Namespace place_;
  std::string object_;
};

}  // namespace rota::testing
