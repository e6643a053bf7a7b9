// Uses the cluster of KUBECONFIG through kubectl, as a user would. Each test has its own
// namespaces, which are deleted at its end.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rota::testing {

using Arguments = std::vector<std::string>;

// Returns the output of kubectl. If it fails, throws std::runtime_error with its message.
std::string kubectl(Arguments arguments, std::string_view input = {});

// Returns the image `name` below ROTA_TEST_IMAGES, or below "localhost" if ROTA_TEST_IMAGES is not
// set.
std::string image(const std::string& name);

// Returns the output of `rotarun render` for a job called mnist. Its pods ask for so few resources
// that the smallest cluster can run them. A later option overrides an earlier one. Throws as
// kubectl() does.
std::string render(const Arguments& options, const Arguments& command);

// Returns `text` with `after` in place of `before`. Throws unless `before` occurs exactly once.
std::string replaced(std::string text, std::string_view before, std::string_view after);

// Returns `manifests` with one more field in their only pod template.
std::string with_pod_field(const std::string& manifests, std::string_view field);

// Returns the output of kustomize for manifests with a component of k8s/components. A container of
// the component gets the tests' image of the same name.
std::string with_component(const std::string& manifests, const std::string& component);

std::string name_of(const nlohmann::json& object);

// A namespace with the security level `level`. If a test has failed, the destructor prints all that
// is known about the pods.
class Namespace {
 public:
  explicit Namespace(std::string_view level = "restricted");
  Namespace(Namespace&&) = delete;
  ~Namespace();

  const std::string& name() const noexcept { return name_; }

  std::string kubectl(Arguments arguments, std::string_view input = {}) const;
  void apply(const std::string& manifests) const;
  nlohmann::json get(const std::string& what) const;

  // Returns the pods with the job's label, by index.
  std::vector<nlohmann::json> pods() const;
  std::vector<std::string> phases() const;  // Running, Succeeded, ...
  std::string log(const std::string& pod) const;

  // Returns the exit code and the termination message of each ended pod: "143 host 1
  // (mnist-1.mnist) got ...". Leaves out the pod `but`, which is about to vanish.
  std::vector<std::string> ends(const std::string& but = {}) const;

  // Returns the log with the time at which the node read each line, such as
  // 2026-01-31T12:00:00.123456789Z.
  std::string log_with_moments(const std::string& pod) const;

  // Returns the answer of the pod's status port, fetched through the API server.
  std::string status(const std::string& pod, const std::string& path) const;

  // Waits until the object has a condition that is an end, and returns the type of this condition.
  // Returns nothing if there is none within `limit`.
  std::string end_of(const std::string& object, std::chrono::seconds limit) const;

 private:
  void print_what_is_known() const;

  std::string name_;
};

// Calls `holds()` until it returns true. Returns false if `limit` passes first.
template <class Condition>
bool becomes_true(Condition holds, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return true;
}

}  // namespace rota::testing
