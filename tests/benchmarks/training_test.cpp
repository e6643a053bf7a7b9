// The training benchmark as `./dev bench training` starts it, on a host where no peer is installed.
// It reports the missing peers and measures rota. Method: one round of the smallest model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <thread>

#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota::bench {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::Result;

TEST(TrainingBenchmark, NamesWhoIsNotInstalledAndMeasuresTheRest) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "takes two cores";
  const testing::TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  Command command;
  command.arguments = {testing::source_path("benchmarks/training/run.sh"),
                       testing::bin_path(),
                       (folder.path() / "no-peers").string(),
                       testing::source_path("examples/mnist/data"),
                       out,
                       "the command",
                       "1",
                       "seed"};
  const Result result = testing::run(command);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("PyTorch DDP: not installed"));
  EXPECT_THAT(result.err, HasSubstr("TensorFlow MWMS: not installed"));

  std::ifstream file(out + "/training.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page, result.out);
  EXPECT_THAT(page, HasSubstr("Measured by `the command` on "));
  const auto has_line = [&](const char* line) {
    return std::regex_search(page, std::regex(line, std::regex::multiline));
  };
  EXPECT_TRUE(
      has_line(R"(^\| rota \| [1-9]\d* \| 1.00 \| [1-9]\d* \| [1-9]\d* % \| [1-9]\d* \| 1.00 \|$)"))
      << page;
  EXPECT_TRUE(has_line(R"(^\| rota \| seed \| \d+\.\d\d \| [1-9]\d* \| - \| - \| - \|$)")) << page;
}

}  // namespace
}  // namespace rota::bench
