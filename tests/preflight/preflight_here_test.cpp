// Tests rotarun --preflight on this host alone: its output and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Runs rotarun under `limits`, because some results depend on the limits under which the tests run.
Result run_with_limits(const std::string& limits, const std::string& arguments) {
  return run({.arguments = {"/bin/sh", "-c",
                            "ulimit " + limits + "; exec " + rotarun_path() + " " + arguments}});
}

TEST(PreflightHere, FindsThatAllIsFine) {
  const Result result = run_with_limits("-n 1024", "-np 1 --preflight true");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("\nhosts     fine     this host alone: "));
  EXPECT_THAT(result.out, HasSubstr("\npreflight: fine\n"));
  EXPECT_EQ(result.err, "");
}

TEST(PreflightHere, FindsThatTheProgramIsNotThere) {
  const Result result = run_rotarun({"--preflight", "--json", "there-is-none"});
  EXPECT_EQ(result.exit_code, 20);
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["verdict"], "unusable");
  EXPECT_THAT(report["reason"], HasSubstr("cannot run there-is-none"));
  EXPECT_EQ(report["hosts"].size(), 1U);
  EXPECT_TRUE(report["edges"].empty());
  EXPECT_EQ(result.err, "");
}

TEST(PreflightHere, PrintsOneObjectHoweverOutputIsToLook) {
  const Result result = run_rotarun({"--preflight", "--json", "--timestamp-output", "--tag-output",
                                     "--gather-output", "--this-host", "true"});
  EXPECT_TRUE(Json::accept(result.out)) << result.out;
}

TEST(PreflightHere, LooksForEachProgramWhereItRuns) {
  const std::string folder = ::testing::TempDir() + "preflight_" + std::to_string(::getpid());
  for (const char* name : {"/a", "/b"}) {
    std::filesystem::create_directories(folder + name);
    std::filesystem::copy("/bin/true", folder + name + "/prog");
  }
  Command command = rotarun({"--preflight", "--json", "--this-host", "-np", "1", "--wdir", "a",
                             "./prog", ":", "-np", "1", "--wdir", "b", "./prog"});
  command.directory = folder;
  const Result result = run(command);
  std::filesystem::remove_all(folder);
  const Json report = Json::parse(result.out);
  EXPECT_NE(report["verdict"], "unusable") << result.out;
  EXPECT_EQ(report["hosts"][0]["program"]["path"], "./prog : ./prog") << result.out;
}

TEST(PreflightHere, FindsMoreRanksThanSlots) {
  const Result result = run_with_limits("-n 8192", "-np 4096 --preflight true");
  EXPECT_EQ(result.exit_code, 20) << result.out;
  EXPECT_THAT(result.out, HasSubstr("ranks     degraded  4096: 4096 on "));
  EXPECT_THAT(result.out, HasSubstr("rotarun may open 8192 files (ulimit -Hn)"));
}

TEST(PreflightHere, FindsFewOpenFiles) {
  const Result low = run_with_limits("-n 512", "-np 1 --preflight true");
  EXPECT_EQ(low.exit_code, 10);
  EXPECT_THAT(low.out, HasSubstr("preflight: degraded: files: 512 open files, at most 512"));
  const Result lower = run_with_limits("-Sn 16", "-np 1 --preflight true");
  EXPECT_EQ(lower.exit_code, 20);
  EXPECT_THAT(lower.out, HasSubstr("each rank may open 16 files (ulimit -Sn)"));
}

#if !defined(ROTA_IS_SANITIZED)  // A sanitizer has more addresses than any limit allows.
TEST(PreflightHere, FindsFewAddresses) {
  const Result low = run_with_limits("-v 4000000", "-np 2 --preflight true");
  EXPECT_EQ(low.exit_code, 10) << low.out;
  EXPECT_THAT(low.out, HasSubstr("\nlimits    degraded  addresses: 3.8 GiB (ulimit -v)"));
  EXPECT_THAT(low.out, HasSubstr(": each of the 2 ranks can share at most 976 MiB: for more, "
                                 "raise ulimit -v\n"));
  const Result lower = run_with_limits("-v 400000", "-np 2 --preflight true");
  EXPECT_EQ(lower.exit_code, 10) << lower.out;
  EXPECT_THAT(lower.out, HasSubstr("\nlimits    degraded  addresses: 390.6 MiB (ulimit -v)"));
  EXPECT_THAT(lower.out, HasSubstr(": each of the 2 ranks can share at most 97 MiB: for more"));
}
#endif

// Errors appear in the same text and JSON forms as other results.
TEST(PreflightHere, SaysWhatKeepsItFromLooking) {
  Result result = run_rotarun({"--preflight", "--json", "--wdir", "/there/is/none", "true"});
  EXPECT_EQ(result.exit_code, 20);
  EXPECT_THAT(Json::parse(result.out)["reason"],
              HasSubstr("--wdir /there/is/none: No such file or directory"));
  result = run_rotarun({"--preflight", "--wdir", "/there/is/none", "true"});
  EXPECT_EQ(result.exit_code, 20);
  EXPECT_THAT(result.out, HasSubstr("\nprogram   unusable  --wdir /there/is/none: No such file"));
  Command command = rotarun({"--preflight", "--json", "true"});
  command.environment = {"TF_CONFIG={"};
  result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 20);
  EXPECT_THAT(Json::parse(result.out)["reason"], HasSubstr("TF_CONFIG"));
}

TEST(PreflightHere, CouldNotTellWithinTheTimeout) {
  const Result result = run_rotarun({"--preflight", "--json", "--timeout", "0.000001", "true"});
  EXPECT_EQ(result.exit_code, 30);
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["code"], 30);
  EXPECT_THAT(report["reason"], HasSubstr("--timeout has passed"));
}

TEST(PreflightHere, AWarningBeforeAJobIsAboutTheSameFiles) {
  const Result result = run_with_limits("-Sn 17", "-np 2 true");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("rotarun: warning: each rank may open 17 files (ulimit -Sn), "
                                    "but this job needs about 18: raise the limit\n"));
  EXPECT_EQ(run_with_limits("-Sn 18", "-np 2 true").err, "");
}

TEST(PreflightHere, MakesNoSenseWithOtherQuestions) {
  for (const char* other : {"--show-ranks", "--explain"}) {
    const Result result = run_rotarun({"--preflight", other, "true"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(std::string("--preflight and ") + other));
  }
  EXPECT_EQ(run_rotarun({"--preflight"}).exit_code, 2);
}

}  // namespace
}  // namespace rota::testing
