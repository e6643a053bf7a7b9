// A World is a job of three pods on two nodes. It trains in its own namespace until a test harms
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

  // Applies the job. `options` are the options of rotarun render. `components` are names of folders
  // of k8s/components.
  explicit World(const Arguments& options = {}, Length length = Length::kShort,
                 const Arguments& components = {});

  const Namespace& place() const noexcept { return place_; }

  // Waits until the job trains, and returns its pods by index. Throws if the job does not train.
  std::vector<nlohmann::json> training_pods() const;

  // Returns, for each failed pod except `but`, the seconds from `moment`, by this machine's clock,
  // until the pod printed a line with `text`; infinity if the pod never printed it.
  std::vector<double> seconds_until_said(const std::string& text,
                                         std::chrono::system_clock::time_point moment,
                                         const std::string& but = {}) const;

  // Returns the end from end_of() and the weights that host 0 has printed: "Complete
  // 594e98146f8cefbc".
  std::string end() const;

 private:
  Namespace place_;
  std::string object_;
};

}  // namespace rota::testing
