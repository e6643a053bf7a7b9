// Tests which verdict of a preflight follows from an exit code, and which job inspects the hosts.
#include "launcher/job/preflight_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/job/end_report.h"

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

TEST(Verdict, OfAJobsCodeIsWhatTheNextTryWouldComeTo) {
  for (const int code : {0, 10, 20, 30}) {
    EXPECT_EQ(static_cast<int>(verdict_of(code)), code);
    EXPECT_TRUE(is_verdict(code));
  }
  for (const int code : {2, 77, 78, 126, 127, 200, 201, 202}) {
    EXPECT_EQ(verdict_of(code), Verdict::kUnusable) << code;
    EXPECT_FALSE(is_verdict(code));
  }
  for (const int code : {1, 3, 79, 124, 129, 130, 131, 134, 137, 139, 143}) {
    EXPECT_EQ(verdict_of(code), Verdict::kUnknown) << code;
    EXPECT_FALSE(is_verdict(code));
  }
}

TEST(PreflightRequest, ComeOutAsTheyWentIn) {
  for (const bool speaks : {false, true}) {
    const auto request = decode_preflight_request(encode({.world_size = 7,
                                                          .slot_count = 3,
                                                          .most_slots = 5,
                                                          .speaks = speaks,
                                                          .directories = {"", "/two words"},
                                                          .arguments = {"-np", "7"}}));
    ASSERT_TRUE(request);
    EXPECT_EQ(request->world_size, 7U);
    EXPECT_EQ(request->slot_count, 3U);
    EXPECT_EQ(request->most_slots, 5U);
    EXPECT_EQ(request->speaks, speaks);
    EXPECT_THAT(request->directories, ElementsAre("", "/two words"));
    EXPECT_THAT(request->arguments, ElementsAre("-np", "7"));
  }
  const auto usual = decode_preflight_request(encode(PreflightRequest{}));
  EXPECT_EQ(usual->world_size, std::nullopt);
  EXPECT_EQ(usual->most_slots, std::nullopt);
}

TEST(PreflightRequest, AreNoneWhereTheyMakeNoSense) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"1", "1"},
                                             {"x", "1", "0", "quiet", "0"},
                                             {"1", "1x", "0", "quiet", "0"},
                                             {"1", "1", "x", "quiet", "0"},
                                             {"1", "1", "0", "loud", "0"},
                                             {"1", "1", "0", "quiet"},
                                             {"1", "1", "0", "quiet", "2", "/one"}}) {
    EXPECT_FALSE(decode_preflight_request(arguments));
  }
}

TEST(PreflightJob, IsOneRankOnEachHostAndLeavesNothingBehind) {
  const Options given = parse_options(
      {"-np", "8", "--map-by", "core", "--rank-by", "node", "--report-bindings", "--tag-output",
       "--output-filename", "logs", "--ports", "8000-8010", "--preflight", "./train", "5"});
  const Options job = preflight_job(given, {.slot_count = 4, .arguments = {"-np", "8"}});
  EXPECT_FALSE(job.rank_count);
  EXPECT_EQ(job.map_by, MapBy::kFixedPerNode);
  EXPECT_EQ(job.ranks_per_node, 1U);
  EXPECT_EQ(job.bind_to, BindTo::kNone);
  EXPECT_FALSE(job.tag_output);
  EXPECT_FALSE(job.report_bindings);
  EXPECT_EQ(job.output_directory, "");
  EXPECT_EQ(job.ports.first, 8000);
  EXPECT_THAT(job.groups.front().program, ElementsAre(EndsWith("rota-preflight"), "0", "4", "0",
                                                      "speaks", "1", "", "-np", "8"));
}

TEST(PreflightJob, KeepsTheValuesOfVariablesToItself) {
  const std::vector<std::string> arguments = {
      "-x",         "A=secret", "--export", "B=secret", "--export=C=secret",
      "-xD=secret", "-x",       "E",        "./a=b"};
  const Options given = parse_options(arguments);
  const Options job = preflight_job(given, {.arguments = arguments});
  EXPECT_THAT(std::vector(job.groups.front().program.begin() + 7, job.groups.front().program.end()),
              ElementsAre("-x", "A", "--export", "B", "--export=C", "-xD", "-x", "E", "./a=b"));
}

TEST(PreflightJob, KeepsThemToItselfInEachFormOfTheFlag) {
  const std::vector<std::string> arguments = {
      "-x=A=secret",      "--x=B=secret", "--x",      "C=secret",
      "-export=D=secret", "-export",      "E=secret", "./a=b"};
  const Options given = parse_options(arguments);
  const Options job = preflight_job(given, {.arguments = arguments});
  const std::vector<std::string> kept(job.groups.front().program.begin() + 7,
                                      job.groups.front().program.end());
  EXPECT_THAT(kept, ElementsAre("-x=A", "--x=B", "--x", "C", "-export=D", "-export", "E", "./a=b"));
  EXPECT_EQ(parse_options(kept).groups.front().program, std::vector<std::string>{"./a=b"});
}

TEST(PreflightJob, RunsHereAndLooksWhereEachProgramRuns) {
  const Options given =
      parse_options({"-np", "1", "--wdir", "a", "./x", ":", "-np", "1", "--wdir", "b", "./y"});
  const Options job = preflight_job(given, {});
  ASSERT_EQ(job.groups.size(), 1U);
  EXPECT_EQ(job.groups.front().working_directory, "");
  EXPECT_THAT(
      decode_preflight_request(std::span(job.groups.front().program).subspan(1))->directories,
      ElementsAre("a", "b"));
}

TEST(NotedReason, IsWhatWasSaidLast) {
  forget_reason();
  note_reason("rotarun: the first\n");
  EXPECT_EQ(noted_reason(), "the first");
  note_reason("the last");
  EXPECT_EQ(noted_reason(), "the last");
}

}  // namespace
}  // namespace rota::launcher
