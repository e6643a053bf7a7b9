// Makes faults of nodes and containers, with the script that ROTA_TEST_HARM names. The script
// exists only for a cluster that runs on this machine and that nobody else uses.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace rota::testing {

bool may_harm();

// Sends SIGKILL, as the kernel does when memory runs out.
void kill_container(const nlohmann::json& pod);

// A node that is harmed. It stays harmed until cure() is called or the object is destroyed.
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
  std::string cure_;  // Empty: the node is cured.
};

}  // namespace rota::testing
