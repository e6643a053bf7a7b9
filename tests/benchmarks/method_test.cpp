// Tests the method of the benchmark on a group of one rank that computes wrong sums on request.
#include "collectives/method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "collectives/run.h"
#include "group_of_one.h"
#include "peak_memory.h"

namespace rota::bench {
namespace {

using testing::HasSubstr;

// A group with all-reduces of floats, in place and out of place, and broadcasts in place.
class Alone final : public GroupOfOne {
 public:
  explicit Alone(float error) : error_(error) {}

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    const bool in_place = work.placement == Placement::kInPlace;
    if (work.type != DataType::kFloat32) return {};
    if (work.collective == Collective::kBroadcast && in_place) return {[] {}, "-"};
    if (work.collective != Collective::kAllReduce) return {};
    return {[this, work, buffers, in_place] {
              ++calls;
              if (!in_place) std::memcpy(buffers.output, buffers.input, work.bytes());
              reinterpret_cast<float*>(buffers.output)[work.total - 1] += error_;
            },
            "-"};
  }

  std::size_t calls = 0;

 private:
  float error_;
};

Arguments arguments(const Method& method) {
  return {.method = method, .json = true, .plot = {}, .since = {}};
}

std::vector<Line> lines_of(Group& group, const Method& method) {
  std::vector<Line> lines;
  measure(group, method, [&](const Line& line) { lines.push_back(line); });
  return lines;
}

TEST(Method, HasALineForEachSizeAndManner) {
  Alone group(0);
  const auto lines = lines_of(group, {.sizes = {4, 1 << 20},
                                      .memories = {Memory::kShared, Memory::kAny},
                                      .states = {State::kWarm, State::kFresh},
                                      .iterations = 3});
  // For each kind of memory, calls with 4 bytes are measured isolated, back-to-back and fresh.
  // Calls with 1 MiB are measured isolated and fresh.
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[1].in_place->calls, Calls::kBackToBack);
  EXPECT_EQ(lines[2].in_place->state, State::kFresh);
  EXPECT_EQ(lines[4].out_of_place->work.bytes(), std::size_t{1} << 20);
  EXPECT_EQ(lines[5].in_place->memory, Memory::kAny);
  for (const Line& line : lines) {
    ASSERT_TRUE(line.in_place && line.out_of_place);
    EXPECT_GT(line.in_place->min_seconds, 0);
    EXPECT_LE(line.in_place->min_seconds, line.in_place->median_seconds);
    EXPECT_LE(line.in_place->median_seconds, line.in_place->p99_seconds);
    EXPECT_FALSE(line.in_place->errors.has_value());
  }
}

TEST(Method, MakesAsManyCallsAsItIsTold) {
  Alone group(0);
  lines_of(group, {.sizes = {1 << 20}, .placements = {Placement::kInPlace}, .iterations = 10});
  EXPECT_EQ(group.calls, 12U);  // Two calls warm up.
}

TEST(Method, MakesFewerCallsBackToBackWhereTheyAreLarge) {
  for (const std::size_t bytes : {4U, 64U << 10}) {
    Alone group(0);
    lines_of(group, {.sizes = {bytes},
                     .placements = {Placement::kInPlace},
                     .calls = {Calls::kBackToBack},
                     .iterations = 1});
    EXPECT_EQ(group.calls, 2U * (bytes == 4 ? 1000 : 256));  // One sample warms up.
  }
}

TEST(Method, MakesAsManyCallsBackToBackAsItIsTold) {
  for (const std::size_t count : {1U, 7U, 2000U}) {
    Alone group(0);
    lines_of(group, {.sizes = {4},
                     .placements = {Placement::kInPlace},
                     .calls = {Calls::kBackToBack},
                     .iterations = 1,
                     .back_to_back = count});
    EXPECT_EQ(group.calls, 2 * count);  // One sample warms up.
  }
}

TEST(Method, MeasuresTheKindsOfCallsThatAreWanted) {
  Alone group(0);
  const auto lines =
      lines_of(group, {.sizes = {4, 1 << 20}, .calls = {Calls::kBackToBack}, .iterations = 1});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].in_place->calls, Calls::kBackToBack);
}

TEST(Method, LeavesOutWhatTheGroupDoesNotHave) {
  Alone group(0);
  const auto lines = lines_of(group, {.collectives = {Collective::kBroadcast, Collective::kReduce},
                                      .sizes = {1 << 20},
                                      .types = {DataType::kFloat32, DataType::kInt8},
                                      .iterations = 1});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].out_of_place);
  EXPECT_EQ(lines[0].in_place->work.collective, Collective::kBroadcast);
}

TEST(Method, LeavesOutOperationsThatATypeDoesNotHave) {
  Alone group(0);
  EXPECT_TRUE(lines_of(group, {.sizes = {4}, .ops = {ReduceOp::kBitOr}, .iterations = 1}).empty());
}

// Only all-reduces without a codec are measured with each plan.
TEST(Method, HasALineForEachPlanOfASize) {
  Alone group(0);
  Method method;
  method.collectives = {Collective::kAllReduce, Collective::kBroadcast};
  method.sizes = {4, 64};
  method.plans = {"auto", "ring"};
  method.placements = {Placement::kInPlace};
  method.calls = {Calls::kIsolated};
  std::vector<std::string> found;
  for (const Line& line : lines_of(group, method)) {
    found.push_back(line.in_place->name + " " + std::to_string(line.in_place->work.bytes()));
  }
  EXPECT_THAT(found, ::testing::ElementsAre("alone 4", "alone ring 4", "alone 64", "alone ring 64",
                                            "alone 4", "alone 64"));
}

TEST(Method, CountsWhatIsWrong) {
  for (const float error : {0.0F, 1.0F}) {
    Alone group(error);
    const auto lines = lines_of(group, {.sizes = {64}, .iterations = 1, .checks = true});
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].in_place->errors, error == 0 ? 0U : 1U);
  }
}

TEST(Measurement, FailsWhereAResultIsWrongOrNothingIsMeasured) {
  Method method{.sizes = {64}, .iterations = 1, .checks = true};
  Alone right(0);
  Alone wrong(1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_measurement(right, arguments(method)), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("{\"name\": \"alone\", \"ranks\": 1, \"collective\": \"all-reduce\", "
                        "\"bytes\": 64,"));
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_measurement(wrong, arguments(method)), 1);
  method.types = {DataType::kInt8};
  EXPECT_EQ(run_measurement(right, arguments(method)), 1);
  testing::internal::GetCapturedStdout();
}

TEST(Measurement, MayBeOfTheFirstSumAlone) {
  Alone group(0);
  Arguments first = arguments({});
  first.since = 0;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_measurement(group, first), 0);
  EXPECT_GT(std::stod(testing::internal::GetCapturedStdout()), 1.6e12);  // A day in 2020.
  EXPECT_EQ(group.calls, 1U);
}

TEST(Program, SaysWhatIsWrongWithItsArguments) {
  const auto run = [](std::vector<std::string> words) {
    std::vector<char*> arguments;
    arguments.reserve(words.size());
    for (std::string& word : words) arguments.push_back(word.data());
    testing::internal::CaptureStderr();
    const int code = run_program(measurement_options("program"), static_cast<int>(arguments.size()),
                                 arguments.data(), [](const cxxopts::ParseResult& given) {
                                   if (given.count("check") != 0)
                                     throw std::invalid_argument("the group's own reason");
                                   return std::make_unique<Alone>(0.0F);
                                 });
    return std::pair(code, testing::internal::GetCapturedStderr());
  };
  const auto refusal = [](const char* word) { return testing::Pair(2, HasSubstr(word)); };
  EXPECT_THAT(run({"program", "all-reduce", "--types", "float"}), refusal("float32"));
  EXPECT_THAT(run({"program", "all-reduce", "--state", "cold"}), refusal("--state"));
  EXPECT_THAT(run({"program", "all-reduce", "--iterations", "0"}), refusal("--iterations"));
  EXPECT_THAT(run({"program", "all-reduce", "--back-to-back", "0"}), refusal("--back-to-back"));
  EXPECT_THAT(run({"program", "all-reduce", "--iterations", "5x"}),
              refusal("--iterations: '5x' is not a whole number"));
  EXPECT_THAT(run({"program", "all-reduce", "--iterations", "30000000000000000000"}),
              refusal("--iterations: '30000000000000000000' is not a whole number"));
  EXPECT_THAT(run({"program", "all-reduce", "--since", "10x"}),
              refusal("--since: '10x' is not a number"));
  EXPECT_THAT(run({"program", "all-reduce", "--since", "-1"}),
              refusal("--since is -1; it must be finite and more than 0"));
  EXPECT_THAT(run({"program", "all-reduce", "further"}), refusal("further"));
  EXPECT_THAT(run({"program", "all-reduced"}), refusal("all-to-all"));
  EXPECT_THAT(run({"program"}), refusal("which collective"));
  EXPECT_THAT(run({"program", "all-reduce", "--check"}), refusal("the group's own reason"));
  EXPECT_THAT(run({"program", "all-reduce", "--check", "--no-check"}), refusal("--no-check"));
}

TEST(Program, ChecksUnlessItIsToldNotTo) {
  const auto run = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"program", "all-reduce", "--sizes", "64", "--iterations", "1"});
    std::vector<char*> arguments;
    arguments.reserve(words.size());
    for (std::string& word : words) arguments.push_back(word.data());
    testing::internal::CaptureStdout();
    const int code = run_program(
        measurement_options("program"), static_cast<int>(arguments.size()), arguments.data(),
        [](const cxxopts::ParseResult&) { return std::make_unique<Alone>(1.0F); });
    return std::pair(code, testing::internal::GetCapturedStdout());
  };
  // One element of the result is wrong in each of four measurements: out of place and in place,
  // isolated and back-to-back.
  const auto said = [](const char* words) { return HasSubstr(words); };
  EXPECT_THAT(run({}), testing::Pair(1, said("# Out of bounds values : 4 FAILED\n")));
  EXPECT_THAT(run({"--check"}), testing::Pair(1, said(": 4 FAILED\n")));
  EXPECT_THAT(run({"--no-check"}), testing::Pair(0, said("# Out of bounds values : N/A\n")));
  EXPECT_THAT(run({"--json"}), testing::Pair(1, said("\"errors\": 1,")));
  EXPECT_THAT(run({"--json"}), testing::Pair(1, testing::Not(said("#"))));
}

TEST(PeakMemory, GrowsByWhatIsTouched) {
  constexpr std::size_t kBytes = 64 << 20;
  const std::size_t before = peak_memory_bytes();
  const std::vector<char> touched(kBytes, 1);
  EXPECT_GE(peak_memory_bytes(), before + kBytes / 2);
  EXPECT_EQ(touched.back(), 1);
}

}  // namespace
}  // namespace rota::bench
