// Tests the page docs/guide/your_own_model.md: its code is the code of the example. This test runs
// the example, and checks that the code is as short as the page says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

const std::string kRoot = testing::source_path();
const std::string kPage = kRoot + "/docs/guide/your_own_model.md";
const std::string kExample = kRoot + "/examples/your_own_model/";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(text_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Returns how many lines of `after` are not in the longest sequence of lines that both `before` and
// `after` have.
std::size_t count_added(const std::vector<std::string>& before,
                        const std::vector<std::string>& after) {
  std::vector<std::size_t> shared(before.size() + 1);  // Index = number of lines of `before`.
  for (const std::string& line : after) {
    std::size_t diagonal = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t above = shared[i + 1];
      shared[i + 1] = before[i] == line ? diagonal + 1 : std::max(above, shared[i]);
      diagonal = above;
    }
  }
  return after.size() - shared.back();
}

TEST(YourOwnModel, IsShownAsItIsBuilt) {
  const std::string page = text_of(kPage);
  const std::regex block(R"(<!-- (\S+) -->\n```cpp\n([^`]*)```)");
  std::vector<std::string> shown;
  for (std::sregex_iterator at(page.begin(), page.end(), block), end; at != end; ++at) {
    EXPECT_EQ((*at)[2], text_of(kRoot + "/" + (*at)[1].str())) << (*at)[1];
    shown.push_back((*at)[1]);
  }
  EXPECT_THAT(shown, ::testing::ElementsAre("examples/your_own_model/alone.cpp",
                                            "examples/your_own_model/data_parallel.cpp"));
  std::size_t block_count = 0;
  for (std::size_t at = 0; (at = page.find("```cpp", at)) != std::string::npos; ++at) ++block_count;
  EXPECT_EQ(block_count, shown.size()) << "a block that is no file's";
}

TEST(YourOwnModel, TakesFifteenMoreLinesAtMost) {
  const auto before = lines_of(kExample + "alone.cpp");
  const auto after = lines_of(kExample + "data_parallel.cpp");
  EXPECT_EQ(count_added(before, before), 0u);
  EXPECT_GT(count_added(before, after), 0u);
  EXPECT_LE(count_added(before, after), 15u);
}

// Returns the number in a program's only line: "992 of 1000 correct".
std::size_t correct_in(const testing::Result& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ::testing::MatchesRegex("[0-9]+ of 1000 correct\n"));
  return std::stoul("0" + result.out);
}

TEST(YourOwnModel, LearnsTheSameOnEveryNumberOfRanks) {
  testing::Command command;
  command.arguments = {testing::bin_path("your_own_model_alone")};
  const std::size_t alone = correct_in(testing::run(command));
  EXPECT_GE(alone, 970u);
  const std::string program = testing::bin_path("your_own_model");
  command.arguments = {program};
  EXPECT_EQ(correct_in(testing::run(command)), alone);
  for (const char* world_size : {"2", "3"}) {
    for (const char* transport : {"shm", "tcp"}) {
      EXPECT_EQ(
          correct_in(testing::run_rotarun({"-np", world_size, "--transport", transport, program})),
          alone)
          << world_size << " ranks over " << transport;
    }
  }
}

// tests/judges/ runs the published graph.
TEST(YourOwnModel, IsPublishedAsFloats) {
  const testing::TemporaryFolder folder;
  testing::Command command;
  command.arguments = {testing::bin_path("your_own_model_export")};
  command.directory = folder.path().string();
  const testing::Result result = testing::run(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              ::testing::MatchesRegex("[0-9]+ of 1000 correct\n"
                                      "published models/1: floats, rounded from doubles\n"));
  const std::filesystem::path version = folder.path() / "models" / "1";
  EXPECT_THAT(text_of(version / "model.json"),
              ::testing::HasSubstr("\"precision\": \"floats, rounded from doubles\""));
  for (const char* name : {"model.onnx", "model.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(version / name)) << name;
  }
}

}  // namespace
}  // namespace rota
