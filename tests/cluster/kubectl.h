// The cluster that KUBECONFIG names, spoken to by kubectl as a user would, and namespaces in it
// that go with the test.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rota::testing {

using Arguments = std::vector<std::string>;

// What it prints. Throws std::runtime_error with what it says where it fails.
std::string kubectl(Arguments arguments, std::string_view input = {});

// The images of the tests: `name` below ROTA_TEST_IMAGES, which is "localhost" where it is not set.
std::string image(const std::string& name);

// What `rotarun render` prints for a job called mnist, whose pods ask for so little that the
// smallest cluster takes them. A later option goes before an earlier one. Throws as kubectl() does.
std::string render(const Arguments& options, const Arguments& command);

// `text` with the only `before` in it replaced. Throws where there is none, or are several.
std::string replaced(std::string text, std::string_view before, std::string_view after);

// `manifests` with a field more in the one pod template that they have.
std::string with_pod_field(const std::string& manifests, std::string_view field);

// What kustomize makes of manifests with a component of k8s/components.
std::string with_component(const std::string& manifests, const std::string& component);

std::string name_of(const nlohmann::json& object);

// A namespace of the restricted kind, or of another. Where the test has failed by its end, all that
// is known of its pods is printed.
class Namespace {
 public:
  explicit Namespace(std::string_view level = "restricted");
  Namespace(Namespace&&) = delete;
  ~Namespace();

  const std::string& name() const noexcept { return name_; }

  std::string kubectl(Arguments arguments, std::string_view input = {}) const;
  void apply(const std::string& manifests) const;
  nlohmann::json get(const std::string& what) const;

  // The pods with the job's label, by their index.
  std::vector<nlohmann::json> pods() const;
  std::vector<std::string> phases() const;  // Theirs: Running, Succeeded, ...
  std::string log(const std::string& pod) const;

  // Of those that have ended, code and termination message: "143 host 1 (mnist-1.mnist) got ...".
  // But not of one that is about to vanish.
  std::vector<std::string> ends(const std::string& but = {}) const;

  // Before each line the moment when the node has read it, as in 2026-01-31T12:00:00.123456789Z.
  std::string log_with_moments(const std::string& pod) const;

  // What the pod's status port answers, by way of the API server.
  std::string status(const std::string& pod, const std::string& path) const;

  // Waits until the object has the condition, or another that is an end as well, and says which.
  // Empty when there is none before `limit` is over.
  std::string end_of(const std::string& object, std::chrono::seconds limit) const;

 private:
  void print_what_is_known() const;

  std::string name_;
};

// Asks until `holds()` is true; false when it is not before `limit` is over.
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
