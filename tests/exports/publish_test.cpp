// Versions of a model: their files, their numbers, and publishers at the same time.
#include <gtest/gtest.h>
#include <rota/publish.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/hex.h"
#include "formats/safetensors.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::error_of;
using testing::TemporaryFolder;

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

OnnxGraph doubling_graph() {
  OnnxGraph graph("doubling");
  graph.add_input("x", OnnxType::kFloat, {"batch", 2});
  graph.add_node({"Add", {"x", "x"}, {"y"}, {}});
  graph.add_output("y", OnnxType::kFloat, {"batch", 2});
  return graph;
}

TEST(Publish, WritesThreeFiles) {
  Communicator alone{CommunicatorOptions{}};
  Model<float> model({1, 1, 3}, {dense(2)});
  const Replica<float> replica(alone, std::move(model), {.seed = 3});
  const TemporaryFolder folder;
  const OnnxOptions options = {.step = 12};
  const Published published = publish(folder.path() / "models", replica, options);
  EXPECT_EQ(published.version, 1U);
  EXPECT_EQ(published.path, folder.path() / "models" / "1");
  EXPECT_EQ(names_in(folder.path() / "models"), std::set<std::string>{"1"});
  EXPECT_EQ(text_of_file(published.path / "model.onnx"), to_bytes(onnx_graph(replica, options)));

  const std::string bytes = text_of_file(published.path / "model.safetensors");
  const auto parsed =
      formats::parse_header(std::as_bytes(std::span(bytes)), bytes.size(), "model.safetensors");
  EXPECT_EQ(parsed.header.metadata.at("step"), "12");
  ASSERT_EQ(parsed.header.tensors.size(), 2U);
  for (const formats::TensorEntry& entry : parsed.header.tensors) {
    const std::size_t index = entry.name == "0.dense.weights" ? 0 : 1;
    const auto values = std::as_bytes(replica.values(index));
    const auto stored = bytes.substr(parsed.data_begin + entry.begin, entry.end - entry.begin);
    EXPECT_EQ(stored, std::string(reinterpret_cast<const char*>(values.data()), values.size()));
  }

  const auto description = nlohmann::json::parse(text_of_file(published.path / "model.json"));
  EXPECT_EQ(description, nlohmann::json::parse(R"({
      "inputs": [{"name": "input", "type": "float32", "shape": ["batch", 1, 1, 3]}],
      "outputs": [{"name": "logits", "type": "float32", "shape": ["batch", 2]}],
      "metadata": {"step": "12", "weights_hash": ")" +
                                               base::to_hex(replica.weights_hash()) + R"("}})"));
}

TEST(Publish, TakesTheNumberAfterTheHighest) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "3");
  std::filesystem::create_directory(folder.path() / "12");
  std::filesystem::create_directory(folder.path() / "99x");
  std::filesystem::create_directory(folder.path() / "-100");
  EXPECT_EQ(publish(folder.path(), doubling_graph(), {}).version, 13U);
  EXPECT_EQ(publish(folder.path(), doubling_graph(), {}).version, 14U);
}

TEST(Publish, NeverReplacesAVersion) {
  TemporaryFolder folder;
  folder.write("1", {1});  // A file, too, keeps its name.
  EXPECT_EQ(publish(folder.path(), doubling_graph(), {}).version, 2U);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "1"), 1U);
}

OnnxGraph graph_of_step(const std::string& step) {
  OnnxGraph graph = doubling_graph();
  graph.add_metadata("step", step);
  return graph;
}

TEST(FindPublished, FindsTheNewestVersionOfTheSameGraph) {
  const TemporaryFolder parent;
  const auto folder = parent.path() / "models";
  EXPECT_FALSE(find_published(folder, graph_of_step("1")));
  publish(folder, graph_of_step("1"), {});
  publish(folder, graph_of_step("1"), {});
  publish(folder, graph_of_step("2"), {});
  const auto found = find_published(folder, graph_of_step("1"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 2U);
  EXPECT_EQ(found->path, folder / "2");
  EXPECT_EQ(find_published(folder, graph_of_step("2"))->version, 3U);
  EXPECT_FALSE(find_published(folder, graph_of_step("3")));
}

TEST(FindPublished, PassesOverWhatIsNoVersion) {
  const TemporaryFolder folder;
  for (const char* name : {".publishing.1", "latest", "7", "8"}) {
    std::filesystem::create_directory(folder.path() / name);
  }
  std::filesystem::create_directory(folder.path() / "7" / "model.json");
  ASSERT_EQ(::mkfifo((folder.path() / "8" / "model.json").c_str(), 0600), 0);
  EXPECT_FALSE(find_published(folder.path(), doubling_graph()));
}

TEST(Published, IsALineForPeopleOrPrograms) {
  const Published published{3, "a \"b\"/3"};
  EXPECT_EQ(to_text(published), "published version 3  a \"b\"/3");
  EXPECT_EQ(to_json(published), R"({"event":"exported","version":3,"path":"a \"b\"/3"})");
}

TEST(Publish, GivesEachPublisherItsOwnVersion) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kVersions = 8;
  const TemporaryFolder folder;
  std::array<std::set<std::uint64_t>, kThreads> versions;
  std::vector<std::thread> threads;
  for (auto& mine : versions) {
    threads.emplace_back([&] {
      OnnxGraph graph = doubling_graph();
      graph.add_metadata("publisher", std::to_string(&mine - versions.data()));
      for (std::uint64_t i = 0; i < kVersions; ++i) {
        mine.insert(publish(folder.path(), graph, {}).version);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(versions[thread].size(), kVersions);
    for (const std::uint64_t version : versions[thread]) {
      EXPECT_TRUE(all.insert(version).second) << version;
      const auto description = nlohmann::json::parse(
          text_of_file(folder.path() / std::to_string(version) / "model.json"));
      EXPECT_EQ(description["metadata"]["publisher"], std::to_string(thread));
    }
  }
  EXPECT_EQ(*all.rbegin(), kThreads * kVersions);
  EXPECT_EQ(names_in(folder.path()).size(), kThreads * kVersions);
}

TEST(Publish, LeavesNothingBehindWhenItRefuses) {
  const TemporaryFolder folder;
  const std::vector<float> values(3);
  const std::vector<NamedTensor> wrong = {{"a", {2, 2}, values}};
  const auto error = error_of([&] { publish(folder.path(), doubling_graph(), wrong); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  const std::vector<NamedTensor> twice = {{"a", {3}, values}, {"a", {3}, values}};
  EXPECT_TRUE(error_of([&] { publish(folder.path(), doubling_graph(), twice); }));
  EXPECT_TRUE(error_of([&] { publish(folder.path(), OnnxGraph("empty"), {}); }));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Publish, SaysWhichFolderItCannotMake) {
  TemporaryFolder folder;
  const auto file = folder.write("file", {1});
  const auto error = error_of([&] { publish(file / "models", doubling_graph(), {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_TRUE(std::string(error->what()).starts_with(file.string() + ": ")) << error->what();
}

}  // namespace
}  // namespace rota
