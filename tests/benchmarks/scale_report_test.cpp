// Tests what `rota-bench scale` concludes from its times, which arguments it refuses, and how a
// library with blocking calls is measured. No rank of a job is needed: the group is of one rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "group_of_one.h"
#include "scale/blocking_sums.h"
#include "scale/contest.h"
#include "scale/peer.h"
#include "scale/row.h"
#include "scale/workload.h"

namespace rota::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// Returns the times of three rounds. In the last round the machine runs at half speed.
ScaleResult scale_result_of_three_rounds() {
  return {.options = {.model = "lenet", .batch_size = 50, .megabits = 100, .rounds = 3},
          .name = "rota",
          .transport = "tcp",
          .ranks = 8,
          .hosts = 4,
          .gradient_bytes = 4'000'000,
          .least_step = 0.080,
          .times = {.step = {0.100, 0.080, 0.200},
                    .waiting = {0.040, 0.020, 0.080},
                    .computing = {0.060, 0.060, 0.120},
                    .communication = {0.050, 0.055, 0.100},
                    .whole = {}}};
}

TEST(ScaleRow, TakesRatiosRoundByRound) {
  const ScaleRow row = row_of(scale_result_of_three_rounds());
  EXPECT_DOUBLE_EQ(row.efficiency.median, 0.6);
  EXPECT_DOUBLE_EQ(row.efficiency.least, 0.6);
  EXPECT_DOUBLE_EQ(row.efficiency.most, 0.75);
  EXPECT_DOUBLE_EQ(row.step.median, 0.100);
  EXPECT_DOUBLE_EQ(row.waiting.median, 0.040);
  EXPECT_DOUBLE_EQ(row.most_efficiency(), 0.75);
}

TEST(ScaleRow, SharesTheTimeOfOneRankIfThisWasMeasured) {
  ScaleResult result = scale_result_of_three_rounds();
  result.times.whole = {0.400, 0.400, 0.800};  // Of all images of eight ranks.
  const ScaleRow row = row_of(result);
  EXPECT_DOUBLE_EQ(row.efficiency.median, 0.5);
  EXPECT_DOUBLE_EQ(row.efficiency.most, 0.625);
}

TEST(ScaleRow, ShowsPeopleWhereTheTimeGoes) {
  const std::string text = to_text(row_of(scale_result_of_three_rounds()));
  EXPECT_THAT(text, HasSubstr("rota tcp: paced steps of lenet, weak scaling, batches of 50 for "
                              "each rank: 8 ranks on 4 hosts"));
  EXPECT_THAT(text, testing::ContainsRegex("step +100.00  .80.00 to 200.00."));
  EXPECT_THAT(text, testing::ContainsRegex("waiting for sums +40.00  "));
  EXPECT_THAT(text, testing::ContainsRegex("computing alone +60.00  "));
  EXPECT_THAT(text, testing::ContainsRegex("communication alone +55.00  "));
  EXPECT_THAT(text, testing::ContainsRegex("efficiency, % +60.00  "));
  EXPECT_THAT(text, testing::ContainsRegex("bytes allow, computed, % +75.00\n"));
}

TEST(ScaleRow, IsReadAsItWasWritten) {
  const std::string line = to_json(row_of(scale_result_of_three_rounds()));
  const json object = json::parse(line);
  EXPECT_EQ(object["name"], "rota");
  EXPECT_EQ(object["transport"], "tcp");
  EXPECT_EQ(object["scaling"], "weak");
  EXPECT_EQ(object["hosts"], 4);
  EXPECT_EQ(object["step_seconds"], json({0.100, 0.080, 0.200}));
  EXPECT_EQ(to_json(scale_row_from(line)), line);
  ScaleResult other = scale_result_of_three_rounds();
  other.options.megabits = {};
  other.options.scaling = Scaling::kStrong;
  const std::string second = to_json(row_of(other));
  EXPECT_TRUE(json::parse(second)["megabits"].is_null());
  EXPECT_EQ(to_json(scale_row_from(second)), second);
}

TEST(ScaleRow, HasABoundOfAtMostOneAndNoneWithoutARate) {
  ScaleResult result = scale_result_of_three_rounds();
  result.least_step = 0.059;  // The computing takes 60 ms, since a rank wakes late.
  EXPECT_DOUBLE_EQ(row_of(result).most_efficiency(), 1);
  result.least_step = 0;
  EXPECT_THAT(to_text(row_of(result)), testing::Not(HasSubstr("bytes allow")));
}

TEST(ScaleRow, IsRefusedIfItIsNone) {
  EXPECT_THROW(scale_row_from("{}"), std::runtime_error);
  EXPECT_THROW(scale_row_from("rows"), std::runtime_error);
}

TEST(Batch, IsOfARankOrShared) {
  EXPECT_EQ(images_of_a_rank({.scaling = Scaling::kWeak, .batch_size = 100}, 16), 100u);
  EXPECT_EQ(images_of_a_rank({.scaling = Scaling::kStrong, .batch_size = 240}, 16), 15u);
  std::string refusal;
  try {
    images_of_a_rank({.scaling = Scaling::kStrong, .batch_size = 100}, 16);
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
  }
  EXPECT_THAT(refusal, StartsWith("--batch-size 100: 16 ranks cannot share this batch equally"));
}

// Its sums are its own values. Writes down the sizes of its calls.
class AloneGroup : public GroupOfOne {
 public:
  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    return {[this, total = work.total, output = reinterpret_cast<float*>(buffers.output)] {
              if (fails) throw std::runtime_error("the cable is cut");
              if (is_wrong) output[0] += 1;
              called.push_back(total);
            },
            "-"};
  }

  bool fails = false;
  bool is_wrong = false;
  std::vector<std::size_t> called{};
};

TEST(BlockingSums, CallForEachBucketOnceInTheOrderOfTheBuckets) {
  AloneGroup group;
  const std::vector<std::size_t> counts = gradient_counts(model_work_named("lenet"));
  std::vector<std::size_t> expected;
  for (const Slice& bucket : lay_out_buckets(counts, sizeof(float), {}, 1).buckets) {
    expected.push_back(bucket.count);
  }
  ASSERT_GT(expected.size(), 1u);
  BlockingSums sums(group, counts);
  for (int step = 0; step < 3; ++step) {
    sum_all(sums, counts.size());
    EXPECT_EQ(group.called, expected) << "step " << step;
    group.called.clear();
  }
}

TEST(BlockingSums, GiveEachGradientItsOwnMemory) {
  AloneGroup group;
  BlockingSums sums(group, std::vector<std::size_t>{3, 70'000, 5});
  float value = 0;
  for (const std::size_t index : {0U, 1U, 2U}) {
    for (float& element : sums.gradient(index)) element = ++value;
  }
  EXPECT_EQ(sums.gradient(0).front(), 1);
  EXPECT_EQ(sums.gradient(1).back(), 70'003);
  EXPECT_EQ(sums.gradient(2).back(), value);
}

TEST(BlockingSums, ThrowWhatACallHasThrown) {
  AloneGroup group;
  group.fails = true;
  BlockingSums sums(group, std::vector<std::size_t>{3});
  EXPECT_THROW(sum_all(sums, 1), std::runtime_error);
}

ScaleOptions short_options() {
  return {.model = "mlp", .batch_size = 1, .images_per_second = 1e5, .steps = 2, .rounds = 3};
}

TEST(PacedContest, HasASampleOfEachKindForEachRound) {
  AloneGroup group;
  BlockingSums sums(group, gradient_counts(model_work_named("mlp")));
  const ScaleResult result = run_paced_contest(group, 1, sums, short_options());
  EXPECT_EQ(result.ranks, 1u);
  EXPECT_EQ(result.gradient_bytes, 669'706 * sizeof(float));
  EXPECT_EQ(result.least_step, 0) << "the rate of the cables is not given";
  for (const auto times : {&ScaleTimes::step, &ScaleTimes::waiting, &ScaleTimes::computing,
                           &ScaleTimes::communication}) {
    EXPECT_EQ((result.times.*times).size(), 3u);
  }
  EXPECT_GE(result.times.computing.front(), 1e-5) << "two steps cannot end before their time";
}

TEST(PacedContest, RefusesALibraryWithWrongSums) {
  AloneGroup group;
  BlockingSums sums(group, gradient_counts(model_work_named("mlp")));
  group.is_wrong = true;
  std::string refusal;
  try {
    run_paced_contest(group, 1, sums, short_options());
  } catch (const std::runtime_error& error) {
    refusal = error.what();
  }
  EXPECT_THAT(refusal, StartsWith("scale: alone has summed gradient "));
  EXPECT_THAT(refusal, HasSubstr("to 2.000000 in place of 1.000000"));
}

struct RefusedScale {
  std::vector<std::string> arguments;
  const char* sentence;
};

TEST(ScaleCommand, RefusesWhatMakesNoSense) {
  const RefusedScale refusals[] = {
      {{"--rounds", "0"}, "--rounds is 0; it must be at least 1"},
      {{"--steps", "0"}, "--steps is 0; it must be at least 1"},
      {{"--batch-size", "0"}, "--batch-size is 0; it must be at least 1"},
      {{"--rate", "0"}, "must be finite and more than 0"},
      {{"--rate=-1"}, "must be finite and more than 0"},
      {{"--rate", "inf"}, "inf"},
      {{"--rate", "fast"}, "fast"},
      {{"--images-per-second", "0"}, "must be finite and more"},
      {{"--images-per-second=-5"}, "must be finite and more"},
      {{"--model", "resnet"}, "there is no workload 'resnet'; the workloads are lenet and mlp"},
      {{"--scaling", "both"}, "--scaling: 'both' is neither weak nor strong"},
      {{"lenet"}, "'lenet' is not an option"},
      {{"--real", "--images-per-second", "5"},
       "--images-per-second: with --real, the ranks compute as they can"},
  };
  for (auto [arguments, sentence] : refusals) {
    arguments.insert(arguments.begin(), "scale");
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_scale_command(static_cast<int>(arguments.size()), pointers.data()), 2);
    const std::string complaint = testing::internal::GetCapturedStderr();
    EXPECT_THAT(complaint, StartsWith("rota-bench scale: "));
    EXPECT_THAT(complaint, HasSubstr(sentence));
  }
}

// Runs the program of a peer that has one rank. The first argument is `scale` or a collective.
int run_as_peer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "alone");
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const PeerProgram program{
      .usage = "alone",
      .add_options = [](cxxopts::Options&) {},
      .make_group = [](const cxxopts::ParseResult&) { return std::make_unique<AloneGroup>(); }};
  return run_peer(program, static_cast<int>(arguments.size()), pointers.data());
}

TEST(PeerOfScale, PrintsTheRowThatRotaPrints) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_as_peer({"scale", "--hosts", "3", "--rate", "100", "--batch-size", "2", "--model",
                         "mlp", "--steps", "1", "--rounds", "2", "--json"}),
            0);
  const ScaleRow row = scale_row_from(testing::internal::GetCapturedStdout());
  EXPECT_EQ(row.name, "alone");
  EXPECT_EQ(row.transport, "");
  EXPECT_EQ(row.hosts, 3u);
  EXPECT_EQ(row.megabits, 100);
  EXPECT_LT(row.most_efficiency(), 1) << "2.7 MB take longer than two images";
}

TEST(PeerOfScale, KnowsNoBoundWithoutARate) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_as_peer({"scale", "--batch-size", "2", "--steps", "1", "--rounds", "1", "--json"}),
            0);
  EXPECT_EQ(scale_row_from(testing::internal::GetCapturedStdout()).least_step, 0);
}

TEST(PeerOfScale, MeasuresCollectivesIfTheyAreNamed) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_as_peer({"all-reduce", "--sizes", "4", "--iterations", "1", "--back-to-back", "1"}),
            0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("alone"));
}

TEST(PeerOfScale, RefusesNoHosts) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_as_peer({"scale", "--hosts", "0"}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "alone scale: --hosts is 0; it must be at least 1\n");
}

TEST(PeerOfScale, HasTheFirstArgumentScale) {
  std::string program = "gloo_bench";
  std::string scale = "scale";
  std::string other = "all-reduce";
  char* wanted[] = {program.data(), scale.data(), nullptr};
  char* unwanted[] = {program.data(), other.data(), nullptr};
  EXPECT_TRUE(wants_scale(2, wanted));
  EXPECT_FALSE(wants_scale(2, unwanted));
  EXPECT_FALSE(wants_scale(1, wanted));
}

}  // namespace
}  // namespace rota::bench
