// What befalls nodes and what runs on them, by the script that ROTA_TEST_HARM names: there is one
// where the nodes are of this machine, and nobody else's.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace rota::testing {

bool may_harm();

// By SIGKILL, as the kernel does where there is no memory left.
void kill_container(const nlohmann::json& pod);

// A node that is harmed until this is cured or goes.
class HarmedNode {
 public:
  HarmedNode(HarmedNode&&) = delete;
  ~HarmedNode();

  static HarmedNode cut_off(const std::string& node);
  static HarmedNode without_kubelet(const std::string& node);

  void cure();

 private:
  HarmedNode(std::string node, const std::string& harm, std::string cure);

  std::string node_;
  std::string cure_;  // Empty once it is.
};

}  // namespace rota::testing
