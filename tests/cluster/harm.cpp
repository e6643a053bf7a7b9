// Runs the script that ROTA_TEST_HARM names, once for each fault.
#include "cluster/harm.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "testing/process.h"

namespace rota::testing {
namespace {

constexpr const char* kScript = "ROTA_TEST_HARM";

void do_to(const std::string& node, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {std::getenv(kScript), node});
  const Result result = run({.arguments = std::move(arguments)});
  if (result.exit_code != 0) throw std::runtime_error(node + " is not harmed: " + result.err);
}

}  // namespace

bool may_harm() { return std::getenv(kScript) != nullptr; }

void kill_container(const nlohmann::json& pod) {
  const std::string id = pod["status"]["containerStatuses"][0]["containerID"];
  do_to(pod["spec"]["nodeName"], {"kill-container", id.substr(id.find("//") + 2)});
}

HarmedNode::HarmedNode(std::string node, const std::string& harm, std::string cure)
    : node_(std::move(node)), cure_(std::move(cure)) {
  do_to(node_, {harm});
}

HarmedNode::~HarmedNode() {
  try {
    cure();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

HarmedNode HarmedNode::cut_off(const std::string& node) { return {node, "cut", "join"}; }

HarmedNode HarmedNode::without_kubelet(const std::string& node) {
  return {node, "kill-kubelet", "start-kubelet"};
}

void HarmedNode::cure() {
  if (!cure_.empty()) do_to(node_, {std::exchange(cure_, {})});
}

}  // namespace rota::testing
