// Tests the real program rotarun render: its output and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/manifest/yaml.h"
#include "manifest/hostile.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> render(std::vector<std::string> more) {
  std::vector<std::string> words = {"render",  "--name", "mnist",   "--workers", "4",
                                    "--slots", "2",      "--image", "rota-mnist"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", "mnist", "--model", "mlp"});
  return words;
}

Result check(const std::string& manifest) {
  Command command = rotarun({"render", "--check", "-"});
  command.input = manifest;
  return run(command);
}

TEST(RotarunRender, PrintsWhatCheckFindsFine) {
  for (const char* kind : {"job", "jobset", "trainjob", "statefulset"}) {
    const Result result = run_rotarun(render({"--kind", kind}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    const Result checked = check(result.out);
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_EQ(checked.out, "rotarun render found nothing wrong with these " +
                               std::to_string(manifest::from_yaml(result.out).size()) +
                               " objects\n");
  }
}

TEST(RotarunRender, PrintsNothingThatCheckRefuses) {
  const Result memory = run_rotarun(render({"--memory", "1Mi"}));
  EXPECT_EQ(memory.exit_code, 2);
  EXPECT_EQ(memory.out, "");
  EXPECT_THAT(memory.err, StartsWith("rotarun render: --memory: Job mnist: "));
  const Result request = run_rotarun(render({"--cpu", "2", "--cpu-request", "4"}));
  EXPECT_EQ(request.exit_code, 2);
  EXPECT_EQ(request.out, "");
  EXPECT_THAT(request.err, StartsWith("rotarun render: --cpu-request: Job mnist: "));
}

TEST(RotarunRender, DrawsAKeyEachTime) {
  const Result one = run_rotarun(render({}));
  EXPECT_THAT(one.out, HasSubstr("\n  key: "));
  EXPECT_NE(one.out, run_rotarun(render({})).out);
  const Result none = run_rotarun(render({"--key-secret", "mine"}));
  EXPECT_EQ(none.out, run_rotarun(render({"--key-secret", "mine"})).out);
}

TEST(RotarunRender, EndsWith78WhereSomethingIsWrongAndNotForHints) {
  const std::string good = run_rotarun(render({})).out;
  std::string bad = good;
  bad.replace(bad.find("clusterIP: None"), 15, "clusterIP: \"\"");
  const Result result = check(bad);
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_THAT(result.out, StartsWith("error: Service mnist: spec.clusterIP is not None"));
  std::string hinted = good;
  hinted.replace(hinted.find("enableServiceLinks: false"), 25, "enableServiceLinks: true");
  const Result hint = check(hinted);
  EXPECT_EQ(hint.exit_code, 0);
  EXPECT_THAT(hint.out, StartsWith("hint: Job mnist: "));
}

TEST(RotarunRender, SaysWhatItCannotRead) {
  const Result missing = run_rotarun({"render", "--check", "/there/is/none"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--check /there/is/none: the file cannot be read"));
  const Result unreadable = run_rotarun({"render", "--check", "/proc/self/mem"});
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_THAT(unreadable.err, HasSubstr("--check /proc/self/mem: the file cannot be read"));
  const Result folder = run_rotarun({"render", "--check", "/tmp"});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("kubectl kustomize /tmp | rotarun render --check -"));
  const Result broken = check("a: [\n");
  EXPECT_EQ(broken.exit_code, 78);
  EXPECT_THAT(broken.err, StartsWith("rotarun render: standard input: line "));
}

class RotarunRenderIsGiven : public ::testing::TestWithParam<manifest::Hostile> {};

// docs/manifests.md promises these limits. tests/timed tests the time that a check may take.
TEST_P(RotarunRenderIsGiven, AndTakesLittleMemory) {
  const os::Fd file = manifest::file_with(GetParam().text());
  Command command = rotarun({"render", "--check", "-"});
  command.standard_input = file.get();
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 78) << result.err;
  EXPECT_LT(result.out.size() + result.err.size(), std::size_t{4} << 20);
#if !defined(ROTA_IS_SANITIZED)
  EXPECT_LT(result.most_bytes, std::size_t{64} << 20);
#endif
}

INSTANTIATE_TEST_SUITE_P(Hostile, RotarunRenderIsGiven, ::testing::ValuesIn(manifest::kHostile),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(RotarunRender, ReadsNoMoreThanItTakes) {
  const os::Fd endless(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  Command command = rotarun({"render", "--check", "-"});
  command.standard_input = endless.get();
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_THAT(result.err,
              HasSubstr("standard input: the text has more than 4 MiB; give the manifest of one"));
}

TEST(RotarunRender, ExplainsItself) {
  EXPECT_THAT(run_rotarun({"render", "--help"}).out, HasSubstr("--key-secret NAME"));
  const Result usage = run_rotarun({"render"});
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_THAT(usage.err, HasSubstr("try rotarun render --help"));
}

// If `render` is not the first word, it is the name of a user's program.
TEST(RotarunRender, IsNoProgramThatIsStarted) {
  const Result result = run_rotarun({"-np", "1", "render"});
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(run_rotarun({"--", "render"}).exit_code, 127);
}

}  // namespace
}  // namespace rota::testing
