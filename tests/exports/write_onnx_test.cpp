// ONNX files are replaced as a whole, or not at all.
#include <gtest/gtest.h>
#include <rota/onnx.h>

#include <fstream>
#include <iterator>

#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::error_of;
using testing::TemporaryFolder;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

OnnxGraph rectifying_graph() {
  OnnxGraph graph("rectifying");
  graph.add_input("x", OnnxType::kFloat, {"batch"});
  graph.add_node({"Relu", {"x"}, {"y"}, {}});
  graph.add_output("y", OnnxType::kFloat, {"batch"});
  return graph;
}

TEST(WriteOnnx, ReplacesAFileAsAWhole) {
  TemporaryFolder folder;
  const auto path = folder.write("model.onnx", {1, 2, 3});
  write_onnx(rectifying_graph(), path);
  EXPECT_EQ(contents_of(path), to_bytes(rectifying_graph()));
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(WriteOnnx, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.onnx";
  std::filesystem::create_directory(path);  // No file can take this name.
  const auto error = error_of([&] { write_onnx(rectifying_graph(), path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_NE(std::string(error->what()).find(path.string()), std::string::npos) << error->what();
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

}  // namespace
}  // namespace rota
