// Runs kubectl once for each request.
#include "cluster/kubectl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using nlohmann::json;

std::string succeed(Arguments arguments, std::string_view input) {
  std::string words;
  for (const std::string& argument : arguments) words += argument + " ";
  const Result result = run({.arguments = std::move(arguments), .input = std::string(input)});
  if (result.exit_code == 0) return result.out;
  throw std::runtime_error(words + "ended with " + std::to_string(result.exit_code) + ":\n" +
                           result.err + result.out);
}

// Returns whether a message says that a runtime is missing. Trainer's webhook may not yet know the
// runtime that the same file has made.
bool misses_a_runtime(const std::string& message) {
  const std::size_t webhook = message.find("admission webhook");
  return webhook != std::string::npos && message.find("not found", webhook) != std::string::npos;
}

// Returns a unique name, so that two runs in one cluster do not collide.
std::string fresh_name() {
  static int count = 0;
  return "rota-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

}  // namespace

std::string kubectl(Arguments arguments, std::string_view input) {
  arguments.insert(arguments.begin(), {"/usr/bin/env", "kubectl"});  // env finds it in PATH.
  return succeed(std::move(arguments), input);
}

std::string image(const std::string& name) {
  const char* const place = std::getenv("ROTA_TEST_IMAGES");
  return (place ? std::string(place) : "localhost") + "/" + name + ":test";
}

std::string render(const Arguments& options, const Arguments& command) {
  Arguments all = {rotarun_path(), "render"};
  const auto add = [&](const std::string& flag, const std::string& value) {
    if (std::ranges::find(options, flag) == options.end()) all.insert(all.end(), {flag, value});
  };
  add("--name", "mnist");
  add("--image", image("rota-mnist"));
  add("--cpu", "1");
  add("--cpu-request", "50m");
  all.insert(all.end(), options.begin(), options.end());
  all.push_back("--");
  all.insert(all.end(), command.begin(), command.end());
  return succeed(std::move(all), {});
}

std::string replaced(std::string text, std::string_view before, std::string_view after) {
  const std::size_t place = text.find(before);
  if (place == std::string::npos || text.find(before, place + 1) != std::string::npos) {
    throw std::runtime_error("not just one \"" + std::string(before) + "\" is in\n" + text);
  }
  return text.replace(place, before.size(), after);
}

std::string with_pod_field(const std::string& manifests, std::string_view field) {
  constexpr std::string_view kNeighbour = "restartPolicy: Never\n";
  const std::size_t place = manifests.find(kNeighbour);
  if (place == std::string::npos) throw std::runtime_error("no pod is in\n" + manifests);
  const std::string indent(place - manifests.rfind('\n', place) - 1, ' ');
  return replaced(manifests, kNeighbour,
                  std::string(field) + "\n" + indent + std::string(kNeighbour));
}

// Method: kustomize accepts only relative paths, and only files named in kustomization.yaml.
std::string with_component(const std::string& manifests, const std::string& component) {
  std::string pattern = std::filesystem::temp_directory_path() / "rota-kustomize-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  const std::filesystem::path components = source_path("k8s/components");
  std::ofstream(folder / "manifests.yaml") << manifests;
  std::ofstream(folder / "kustomization.yaml")
      << "resources: [manifests.yaml]\n"
      << "components: [" << relative(components, folder).string() << "/" << component << "]\n";
  std::string yaml = kubectl({"kustomize", folder});
  std::filesystem::remove_all(folder);
  for (const std::string name : {"rota-mnist", "rota-tensorboard"}) {
    const std::string plain = "image: " + name + "\n";
    const std::size_t place = yaml.find(plain);
    const bool is_of_component = manifests.find(plain) == std::string::npos;
    if (place != std::string::npos && is_of_component) {
      yaml.replace(place, plain.size(), "image: " + image(name) + "\n");
    }
  }
  return yaml;
}

std::string name_of(const json& object) { return object["metadata"]["name"]; }

Namespace::Namespace(std::string_view level) : name_(fresh_name()) {
  testing::kubectl({"create", "namespace", name_});
  testing::kubectl(
      {"label", "namespace", name_, "pod-security.kubernetes.io/enforce=" + std::string(level)});
}

Namespace::~Namespace() {
  try {
    // While the test's exception unwinds, GoogleTest has not yet recorded a failure.
    if (::testing::Test::HasFailure() || std::uncaught_exceptions() > 0) print_what_is_known();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "namespace " << name_ << ": " << error.what();
  }
  try {
    // From now on nothing can be created in the namespace. The namespace vanishes when its pods are
    // gone.
    testing::kubectl({"delete", "namespace", name_, "--wait=false"});
    // If the Job were not deleted, pods would stay: the Job keeps them until it has made
    // replacements, which it can no longer make.
    kubectl({"delete", "jobs", "--all", "--wait=false"});
    kubectl({"delete", "pods", "--all", "--grace-period=1", "--timeout=60s"});
  } catch (const std::exception& error) {
    ADD_FAILURE() << "namespace " << name_ << ": " << error.what();
  }
}

std::string Namespace::kubectl(Arguments arguments, std::string_view input) const {
  arguments.insert(arguments.begin(), {"--namespace", name_});
  return testing::kubectl(std::move(arguments), input);
}

void Namespace::apply(const std::string& manifests) const {
  for (int left = 20;; --left) {
    try {
      kubectl({"apply", "-f", "-"}, manifests);
      return;
    } catch (const std::runtime_error& error) {
      if (left == 0 || !misses_a_runtime(error.what())) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

json Namespace::get(const std::string& what) const {
  return json::parse(kubectl({"get", what, "-o", "json"}));
}

std::vector<json> Namespace::pods() const {
  std::vector<json> pods = json::parse(
      kubectl({"get", "pods", "-l", "app.kubernetes.io/name=mnist", "-o", "json"}))["items"];
  const auto index = [](const json& pod) {
    const json annotations = pod["metadata"].value("annotations", json::object());
    return std::stoi(annotations.value("batch.kubernetes.io/job-completion-index", "0"));
  };
  std::ranges::sort(pods, {}, index);
  return pods;
}

std::vector<std::string> Namespace::phases() const {
  std::vector<std::string> phases;
  for (const json& pod : pods()) phases.push_back(pod["status"]["phase"]);
  return phases;
}

std::vector<std::string> Namespace::ends(const std::string& but) const {
  constexpr std::size_t kMessageBytes = 2048;  // Kubernetes keeps no more.
  std::vector<std::string> ends;
  for (const json& pod : pods()) {
    if (name_of(pod) == but) continue;
    // A pending pod has no container yet.
    for (const json& container : pod["status"].value("containerStatuses", json::array())) {
      if (!container["state"].contains("terminated")) continue;
      const json& end = container["state"]["terminated"];
      const std::string message = end.value("message", "");
      EXPECT_LE(message.size(), kMessageBytes);
      ends.push_back(std::to_string(end["exitCode"].get<int>()) + " " + message);
    }
  }
  return ends;
}

std::string Namespace::log(const std::string& pod) const { return kubectl({"logs", pod}); }

std::string Namespace::log_with_moments(const std::string& pod) const {
  return kubectl({"logs", "--timestamps", pod});
}

std::string Namespace::status(const std::string& pod, const std::string& path) const {
  return testing::kubectl(
      {"get", "--raw", "/api/v1/namespaces/" + name_ + "/pods/" + pod + ":8080/proxy" + path});
}

std::string Namespace::end_of(const std::string& object, std::chrono::seconds limit) const {
  std::string end;
  becomes_true(
      [&] {
        const json status = get(object).value("status", json::object());
        for (const json& condition : status.value("conditions", json::array())) {
          const std::string type = condition["type"];
          const bool is_end = type == "Complete" || type == "Completed" || type == "Failed";
          if (is_end && condition["status"] == "True") end = type;
        }
        return !end.empty();
      },
      limit);
  return end;
}

void Namespace::print_what_is_known() const {
  std::cerr << "What is known of namespace " << name_ << ":\n"
            << kubectl({"get", "pods,jobs", "-o", "wide"})
            << kubectl({"get", "events", "--sort-by=.lastTimestamp"});
  const json pods = get("pods");
  for (const json& pod : pods["items"]) {
    const std::string name = pod["metadata"]["name"];
    const Result result =
        run({.arguments = {"/usr/bin/env", "kubectl", "-n", name_, "logs", name}});
    std::cerr << "--- " << name << "\n" << result.out << result.err;
  }
}

}  // namespace rota::testing
