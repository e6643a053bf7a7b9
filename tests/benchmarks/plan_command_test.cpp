// Tests the output of `rota-bench plan`, and which arguments it refuses.
#include "commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace rota::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

Said plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Said said;
  said.code = run_plan_command(static_cast<int>(arguments.size()), pointers.data());
  said.out = testing::internal::GetCapturedStdout();
  said.err = testing::internal::GetCapturedStderr();
  return said;
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Returns the reason why `text` is not XML; empty if `text` is XML. Checks only the rules that
// matter for the output of `rota-bench plan`: tags close in order, values of attributes are quoted,
// and there is one element at the top.
std::string flaw_of(const std::string& text) {
  std::vector<std::string> open;
  std::size_t tops = 0;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const std::size_t end = text.find('>', at);
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (end == std::string::npos || tag.find('<') != std::string::npos) return "unended <" + tag;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != name.substr(1)) return "unexpected <" + tag + ">";
      open.pop_back();
      continue;
    }
    if (count_of("\"", tag) != 2 * count_of("=\"", tag)) return "unquoted value in <" + tag + ">";
    if (open.empty()) ++tops;
    if (!tag.ends_with('/')) open.push_back(name);
  }
  if (!open.empty()) return "unclosed <" + open.back() + ">";
  return tops == 1 ? "" : std::to_string(tops) + " elements at the top";
}

TEST(PlanCommand, DrawsARing) {
  EXPECT_EQ(plan({"--plan", "ring", "--world", "3", "--draw"}).out,
            R"(all_reduce by ring: 3 ranks, 48 elements, in place; 4 steps, 12 messages

rank  0           1           2
      |           |           |
   1  |----+c2--->|----+c0--->|
      |<---------+c1----------|
      |           |           |
   2  |----+c1--->|----+c2--->|
      |<---------+c0----------|
      |           |           |
   3  |----c0---->|----c1---->|
      |<---------c2-----------|
      |           |           |
   4  |----c2---->|----c0---->|
      |<---------c1-----------|
      |           |           |

c0 [0:16)    c1 [16:32)   c2 [32:48)
+c0 is added to what the receiver has
c0 takes the place of what the receiver has
)");
}

TEST(PlanCommand, NamesAMessageByTheChunksThatItCarries) {
  const Said said = plan({"--plan", "halving-doubling", "--world", "8", "--draw"});
  EXPECT_THAT(said.out, HasSubstr("-+c4-7-"));
  EXPECT_THAT(said.out, HasSubstr("-c0-1-"));
  EXPECT_THAT(said.out, HasSubstr("c7 [112:128)"));
}

TEST(PlanCommand, KeepsEightRanksWithinAHundredColumns) {
  for (const char* name :
       {"ring", "direct", "hub", "by-host", "halving-doubling", "tree", "two-level", "star"}) {
    std::istringstream lines(plan({"--plan", name, "--world", "8", "--draw"}).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(PlanCommand, ShowsWhichHostARankIsOn) {
  EXPECT_THAT(plan({"--plan", "two-level", "--world", "4", "--hosts", "a,b,a,b", "--draw"}).out,
              HasSubstr("\nhost  a           b           a           b\n"));
  EXPECT_THAT(plan({"--plan", "two-level", "--world", "3", "--draw"}).out,
              HasSubstr("\nhost  host0       host0       host1\n"));
}

TEST(PlanCommand, DrawsWorldsWithoutMessages) {
  EXPECT_THAT(plan({"--world", "1", "--draw"}).out, HasSubstr("0 steps, 0 messages"));
  EXPECT_THAT(plan({"--count", "0", "--draw"}).out, HasSubstr("0 steps, 0 messages"));
  EXPECT_THAT(plan({"--plan", "dissemination", "--world", "2", "--draw"}).out,
              HasSubstr("   1  |---------->|\n      |<----------|\n"));
}

TEST(PlanCommand, DrawsPicturesWithAnArrowForEachMessage) {
  for (const char* name : {"ring", "direct", "hub", "by-host", "tree", "two-level", "star"}) {
    for (const char* world_size : {"1", "2", "5", "8"}) {
      const std::vector<std::string> what = {"--plan", name, "--world", world_size, "--draw"};
      std::vector<std::string> picture = what;
      picture.insert(picture.end(), {"--format", "svg"});
      const std::string svg = plan(picture).out;
      EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
      EXPECT_EQ(flaw_of(svg), "") << name << " " << world_size;
      const std::string messages = std::to_string(count_of("class=\"message ", svg)) + " message";
      EXPECT_THAT(plan(what).out, HasSubstr(", " + messages)) << name << " " << world_size;
    }
  }
}

TEST(PlanCommand, SaysInAPictureWhatEachMessageIs) {
  const std::string svg = plan({"--world", "3", "--draw", "--format", "svg"}).out;
  EXPECT_THAT(svg, HasSubstr("<title>step 1: rank 0 to rank 1, c2, is added</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>step 4: rank 2 to rank 0, c1, takes the place</title>"));
  EXPECT_THAT(svg, HasSubstr(">c2 [32:48)</text>"));
}

TEST(PlanCommand, ListsTheStepsOfEachRank) {
  EXPECT_EQ(plan({"--world", "2"}).out,
            R"(all_reduce by ring: 2 ranks, 32 elements, in place

rank 0: 2 lanes, 4 steps, scratch of 0 elements
  lane 0, to rank 1
    1   send      values[16:32)
    2   send      values[0:16)              after lane 1 step 1
  lane 1, from rank 1
    1   reduce    values[0:16), last
    2   receive   values[16:32)             after lane 0 step 1

rank 1: 2 lanes, 4 steps, scratch of 0 elements
  lane 0, to rank 0
    1   send      values[0:16)
    2   send      values[16:32)             after lane 1 step 1
  lane 1, from rank 0
    1   reduce    values[16:32), last
    2   receive   values[0:16)              after lane 0 step 1
)");
  const Said said = plan({"--world", "2", "--out-of-place"});
  EXPECT_THAT(said.out, HasSubstr("  lane 0, in its own memory\n"));
  EXPECT_THAT(said.out, HasSubstr("copy      values[16:32) from input[16:32)\n"));
}

TEST(PlanCommand, TakesTheFirstCollectiveThatThePlanMakes) {
  EXPECT_THAT(plan({"--plan", "tree"}).out, StartsWith("all_reduce by tree: 4 ranks"));
  EXPECT_THAT(plan({"--plan", "chain"}).out, StartsWith("reduce by chain: "));
  EXPECT_THAT(plan({"--plan", "dissemination"}).out, StartsWith("barrier by dissemination: "));
  EXPECT_THAT(plan({"--plan", "tree", "--collective", "broadcast", "--root", "2"}).out,
              StartsWith("broadcast by tree: 4 ranks, 64 elements, root 2, in place\n"));
}

TEST(PlanCommand, WritesToAFile) {
  const std::string path = testing::TempDir() + "plan_" + std::to_string(::getpid());
  const Said said = plan({"--draw", "--output", path});
  EXPECT_EQ(said.out, "");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), plan({"--draw"}).out);
  std::filesystem::remove(path);
  EXPECT_THROW(plan({"--output", path + "/nowhere"}), std::runtime_error);
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
}

TEST(PlanCommand, HasHelp) {
  const Said said = plan({"--help"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("--out-of-place"));
}

struct RefusedPlan {
  std::vector<std::string> arguments;
  const char* sentence;
};

TEST(PlanCommand, RefusesWhatMakesNoSense) {
  const RefusedPlan refusals[] = {
      {{"--plan", "rign"}, "--plan 'rign' is not known; did you mean ring?"},
      {{"--plan", "xyzzyplugh"}, "--plan 'xyzzyplugh' is not known; there are ring, direct"},
      {{"--collective", "allreduce"}, "did you mean all_reduce?"},
      {{"--plan", "tree", "--collective", "gather"},
       "tree is not a plan for gather: it is for all_reduce, reduce and broadcast"},
      {{"--plan", "direct", "--collective", "send"}, "a send is one message"},
      {{"--world", "0"}, "--world 0 is not from 1 to 64"},
      {{"--world", "65"}, "--world 65 is not from 1 to 64"},
      {{"--world", "-1"}, "--world: '-1' is not a whole number"},
      {{"--world", "4x"}, "--world: '4x' is not a whole number"},
      {{"--world", "2", "--root", "2"}, "--root 2 is not from 0 to 1"},
      {{"--count", "18446744073709551615"}, "18446744073709551615"},
      {{"--world", "4", "--hosts", "a,b"}, "--hosts names 2 hosts for 4 ranks"},
      {{"--world", "2", "--hosts", "a,<b>"}, "'<b>' is not a host name"},
      {{"--world", "2", "--hosts", "a,"}, "'' is not a host name"},
      {{"--format", "svg"}, "--format needs --draw"},
      {{"--draw", "--format", "pdf"}, "--format 'pdf' is not known; there are text and svg"},
      {{"--unknown"}, "unknown"},
      {{"ring"}, "'ring' is not an option"},
  };
  for (const auto& [arguments, sentence] : refusals) {
    const Said said = plan(arguments);
    EXPECT_EQ(said.code, 2) << sentence;
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, StartsWith("rota-bench plan: "));
    EXPECT_THAT(said.err, HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace rota::bench
