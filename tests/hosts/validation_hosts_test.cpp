// The scripts of benchmarks/scale as `./dev bench scale` runs them, with the fewest points:
// run.sh makes a whole page, and validate.sh a part of it. Without root, both say what is left out.
// No test judges the times, so it does not matter whether the predictions are good enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/network.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ScaleScript : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "scale_script_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes script() run as somebody else than root: in a user namespace of its own, root is nobody.
  // Returns what is missing for that, or nothing.
  std::optional<std::string> leave_root() {
    if (::geteuid() != 0) return std::nullopt;
    words_ = {"/usr/bin/unshare", "--user"};
    const Result tried = run({.arguments = {words_[0], words_[1], "true"}});
    if (tried.exit_code == 0) return std::nullopt;
    return "no user namespaces here: " + tried.err;
  }

  // Runs a script, whose first arguments are the folders of the programs and of its files. If the
  // script takes too long, SIGTERM ends it, so it removes its hosts.
  Result script(const std::string& name, const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"/usr/bin/timeout", "420"};
    all.insert(all.end(), words_.begin(), words_.end());
    all.insert(all.end(), {source_path("benchmarks/scale/" + name), bin_path(), folder_});
    all.insert(all.end(), arguments.begin(), arguments.end());
    Process process({.arguments = std::move(all)});
    return process.wait(std::chrono::seconds(450));
  }

  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string folder_;
  std::vector<std::string> words_;  // They come before the path of a script.
};

using ValidationHosts = ScaleScript;
using ScalePage = ScaleScript;

TEST_F(ValidationHosts, AreLeftOutByNameWithoutRoot) {
  if (const auto missing = leave_root()) GTEST_SKIP() << *missing;
  const Result result = script("validate.sh", {"few"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("The validation of predictions is left out: only root can make "
                                    "the network namespaces"));
  EXPECT_EQ(text_of("validation.md"), result.out);
  EXPECT_EQ(text_of("validation.jsonl"), "");
}

// The page of root, with a part for each kind of measurement on hosts. Peers need not be there.
TEST_F(ValidationHosts, MeasureEachPoint) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the tests of its parts show the same";
#endif
  if (const auto obstacle = Network::obstacle()) GTEST_SKIP() << *obstacle;
  const Result named = run({.arguments = {"/bin/sh", "-c",
                                          "ip netns add rota-try-$$ && ip netns delete "
                                          "rota-try-$$"}});
  if (named.exit_code != 0) {
    GTEST_SKIP() << "no network namespaces with veth and bridge here: " << named.err;
  }
  const Result result = script("run.sh", {"a test", "1", "few"});
  if (result.err.find("no page: the code (") != std::string::npos) {
    GTEST_SKIP() << "somebody has edited the code while this test ran: run it again\n"
                 << result.err;
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(text_of("scaling.md"), result.out) << result.err;
  for (const char* part : {"**lenet, weak scaling, one host: measured**",
                           "**lenet, weak scaling, hosts at 1 Gbit/s: measured**",
                           "**lenet, trained, weak scaling, hosts at 1 Gbit/s: measured**",
                           "4 ranks on 2 hosts at 1 Gbit/s, from the command to the first sum: "}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("rota failed on")));
  EXPECT_THAT(result.out, HasSubstr("### From the same costs: more hosts\n"));
  EXPECT_THAT(result.out,
              ContainsRegex("\\| lenet at 1000 Mbit/s( \\| [0-9.]+ % predicted){3} \\|"));
  const std::string page = text_of("validation.md");
  EXPECT_THAT(result.out, HasSubstr(page)) << result.err;
  EXPECT_THAT(page, HasSubstr("## Predicted and measured\n"));
  EXPECT_THAT(page, HasSubstr("\n1000-1:between-hosts "));
  EXPECT_THAT(page, HasSubstr("| plan | bytes | 2 hosts, ms | 3 hosts, ms |\n"));
  for (const char* point : {"| ring | 1 KiB | m ", "| star | 64 KiB | m ", "| mlp | weak | m "}) {
    EXPECT_THAT(page, HasSubstr(point));
  }
  EXPECT_THAT(page, Not(HasSubstr("left out")));
  // Six plans at two sizes, and a training, in two worlds.
  EXPECT_EQ(std::ranges::count(text_of("validation.jsonl"), '\n'), 2 * (6 * 2 + 1)) << page;
}

// An error in the last part of the script would otherwise show after hours. Peers need not be
// there, nor succeed.
TEST_F(ScalePage, HasItsPartsWithoutRoot) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the tests of its parts show the same";
#endif
  if (const auto missing = leave_root()) GTEST_SKIP() << *missing;
  const Result result = script("run.sh", {"a test", "1", "few"});
  if (result.err.find("no page: the code (") != std::string::npos) {
    GTEST_SKIP() << "somebody has edited the code while this test ran: run it again\n"
                 << result.err;
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = text_of("scaling.md");
  EXPECT_EQ(page, result.out) << result.err;
  // In this order. The lines of a paragraph end anywhere.
  std::string line = page;
  std::ranges::replace(line, '\n', ' ');
  std::size_t at = 0;
  for (const char* part :
       {"# scaling  Measured by `a test` on ", "The steps are those of the example's models",
        "Hosts, and the time until ranks on them have joined, are left out: only root can make ",
        "To predict a training step of ResNet-101 by a ring on 512 hosts, ",
        "a prediction for 512 hosts takes ", "![](scaling.svg)",
        "**lenet, weak scaling, one host: measured**",
        "**lenet, trained, weak scaling, one host: measured**",
        "The validation of predictions is left out: only root can make",
        "## Larger worlds: predicted, not measured", "### Parameter servers"}) {
    const std::size_t found = line.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\nis not behind the part before it:\n" << page;
    at = found;
  }
  EXPECT_THAT(line, Not(HasSubstr("Hosts are network namespaces")));
  for (const char* about_hosts : {"bytes of the cables", "The cables let 128 kB"}) {
    EXPECT_THAT(line, Not(HasSubstr(about_hosts)));
  }
  EXPECT_THAT(line, Not(HasSubstr("rota failed on")));
  EXPECT_THAT(text_of("scaling.svg"), HasSubstr("</svg>"));
}

TEST_F(ScalePage, NeedsAKindOfPointsThatThereIs) {
  const Result result = script("run.sh", {"a test", "1", "many"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("usage: run.sh BIN OUT COMMAND [ROUNDS [whole | few]]"));
}

}  // namespace
}  // namespace rota::testing
