// Compares the manifests of k8s/ with rotarun render, its checks, and the API server's own schema.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "cluster/kubectl.h"
#include "launcher/manifest/yaml.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using manifest::Tree;

const std::filesystem::path kManifests = source_path("k8s");

Result shell(const std::string& script, const std::string& input = {}) {
  return run({.arguments = {"/bin/sh", "-c", script}, .input = input});
}

std::string kustomize(const std::filesystem::path& folder) {
  const Result result = shell("kubectl kustomize " + folder.string());
  EXPECT_EQ(result.exit_code, 0) << folder << ": " << result.err;
  return result.out;
}

std::vector<std::filesystem::path> folders_of(const char* folder) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(kManifests / folder)) {
    folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

// Returns the arguments of the command `rotarun render` in the comment of an overlay. This command
// prints the objects of the overlay. Returns an empty string if the comment has no such command.
std::string command_of(const std::filesystem::path& overlay) {
  constexpr std::string_view kMark = "#   rotarun render ";
  std::ifstream file(overlay / "kustomization.yaml");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kMark)) return line.substr(kMark.size());
  }
  return {};
}

// Returns the objects by kind and name: neither their order nor the order of their fields matters.
std::map<std::string, nlohmann::json> by_name(const std::string& yaml) {
  std::map<std::string, nlohmann::json> objects;
  for (const Tree& object : manifest::from_yaml(yaml)) {
    const std::string name =
        manifest::text_at(object, "kind") + " " + manifest::text_at(object, "metadata.name");
    objects[name] = nlohmann::json::parse(object.dump());
  }
  return objects;
}

// Returns a command that creates nothing, except a runtime of Trainer, which must exist before its
// job.
std::string apply_command(const Tree& object, const std::string& name_space) {
  const std::string kind = manifest::text_at(object, "kind");
  std::string command = "kubectl apply --validate=strict -f -";
  if (kind != "TrainingRuntime") command += " --dry-run=server";
  if (kind != "Namespace") command += " -n " + name_space;
  // Trainer notices the runtime a moment later.
  if (kind == "TrainJob")
    command = "f=$(cat); for i in 1 2 3 4 5 6 7 8 9 10; do echo \"$f\" | " + command +
              " && exit 0; sleep 1; done; exit 1";
  return command;
}

// Expects that the server accepts the manifests.
void expect_valid(const std::string& yaml, const std::string& name_space) {
  std::vector<Tree> objects = manifest::from_yaml(yaml);
  std::stable_partition(objects.begin(), objects.end(), [](const Tree& object) {
    return manifest::text_at(object, "kind") == "TrainingRuntime";
  });
  for (Tree& object : objects) {
    object["metadata"].erase("namespace");
    const std::string text = manifest::to_yaml({object});
    const Result result = shell(apply_command(object, name_space), text);
    EXPECT_EQ(result.exit_code, 0) << text << result.err;
    EXPECT_THAT(result.err, ::testing::Not(::testing::HasSubstr("PodSecurity"))) << text;
  }
}

class Manifests : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { mine = std::make_unique<Namespace>(); }
  static void TearDownTestSuite() { mine.reset(); }

  static inline std::unique_ptr<Namespace> mine;
};

TEST_F(Manifests, AreWhatRotarunRenders) {
  int compared_count = 0;
  for (const auto& overlay : folders_of("overlays")) {
    const std::string command = command_of(overlay);
    if (command.empty()) continue;
    SCOPED_TRACE(overlay);
    const Result rendered = shell(rotarun_path() + " render " + command);
    EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
    EXPECT_EQ(by_name(kustomize(overlay)), by_name(rendered.out));
    ++compared_count;
  }
  EXPECT_GE(compared_count, 4);  // One overlay of each kind.
}

TEST_F(Manifests, AreFoundFine) {
  for (const auto& overlay : folders_of("overlays")) {
    SCOPED_TRACE(overlay);
    const Result result = shell(rotarun_path() + " render --check -", kustomize(overlay));
    EXPECT_EQ(result.exit_code, 0) << result.out;
  }
}

TEST_F(Manifests, AreValidForTheServerAndRestricted) {
  for (const auto& overlay : folders_of("overlays")) {
    SCOPED_TRACE(overlay);
    expect_valid(kustomize(overlay), mine->name());
  }
}

TEST_F(Manifests, TakeEveryComponentWithEveryKind) {
  for (const char* kind : {"job", "jobset", "trainjob", "statefulset"}) {
    for (const auto& component : folders_of("components")) {
      const std::string name = component.filename();
      const bool needs_volume = name == "tensorboard" || name == "evaluator";
      const bool is_of_jobs = name == "restart-rules";
      if (is_of_jobs && kind == std::string("statefulset")) continue;
      SCOPED_TRACE(std::string(kind) + " with " + name);
      std::string plain = kustomize(kManifests / "overlays" / kind);
      if (needs_volume) plain = with_component(plain, "volume");
      const std::string yaml = with_component(plain, name);
      EXPECT_NE(yaml, plain);
      expect_valid(yaml, mine->name());
      const Result result = shell(rotarun_path() + " render --check -", yaml);
      EXPECT_EQ(result.exit_code, 0) << result.out;
    }
  }
}

TEST_F(Manifests, AreRenderedAsTheServerTakesThem) {
  for (const char* kind : {"job", "jobset", "trainjob", "statefulset"}) {
    const Result rendered =
        shell(rotarun_path() + " render --kind " + kind +
              " --name rendered --workers 12 --gpu 1 --parameters 1000 --image rota-mnist"
              " --data-claim data --data-size 1Gi -- --encrypt --grace 45 mnist");
    EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
    expect_valid(rendered.out, mine->name());
  }
}

}  // namespace
}  // namespace rota::testing
