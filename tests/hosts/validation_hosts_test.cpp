// benchmarks/scale/validate.sh as `./dev bench scale` runs it, with the fewest points: it measures
// them on hosts, and says without root what is left out. No test judges the times, so it does not
// matter whether the predictions are good enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "testing/network.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ValidationHosts : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "validation_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs the script. `words` come before its path. If the script takes too long, SIGTERM ends it,
  // so it removes its hosts.
  Result validate(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"/usr/bin/timeout", "240"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(),
               {source_path("benchmarks/scale/validate.sh"), bin_path(), folder_, "few"});
    Process script({.arguments = std::move(all)});
    return script.wait(std::chrono::seconds(270));
  }

  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string folder_;
};

// Method: in a user namespace of its own, root is nobody.
TEST_F(ValidationHosts, AreLeftOutByNameWithoutRoot) {
  std::vector<std::string> words;
  if (::geteuid() == 0) {
    words = {"/usr/bin/unshare", "--user"};
    const Result tried = run({.arguments = {words[0], words[1], "true"}});
    if (tried.exit_code != 0) GTEST_SKIP() << "no user namespaces here: " << tried.err;
  }
  const Result result = validate(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("The validation of predictions is left out: only root can make "
                                    "the network namespaces"));
  EXPECT_EQ(text_of("validation.md"), result.out);
  EXPECT_EQ(text_of("validation.jsonl"), "");
}

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
  const Result result = validate({});
  ASSERT_THAT(result.exit_code, AnyOf(0, 1)) << result.err;
  const std::string page = text_of("validation.md");
  EXPECT_EQ(page, result.out) << result.err;
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

}  // namespace
}  // namespace rota::testing
