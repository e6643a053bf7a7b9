// Tests which samples are in which part of a data set.
#include <rota/split.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <rota/trainer.h>

#include "testing/error_of.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Positions = std::vector<std::uint64_t>;

TEST(Split, PutsEachSampleInOnePart) {
  for (const std::size_t count : {10, 11, 997, 1000}) {
    const SplitSamples parts = split_samples(count, {.validation = 0.1, .test = 0.25});
    EXPECT_EQ(parts.validation.size(), (count + 5) / 10);
    EXPECT_EQ(parts.test.size(), (count + 2) / 4);
    Positions all;
    for (const Positions& part : {parts.train, parts.validation, parts.test}) {
      EXPECT_TRUE(std::ranges::is_sorted(part));
      all.insert(all.end(), part.begin(), part.end());
    }
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(all[i], i);
  }
}

// The parts belong to the definition of a training run, so they must not change with a compiler or
// a release. A separate program in another language once computed the expected parts.
TEST(Split, DrawsTheSamePartsOnEveryMachine) {
  const SplitSamples parts = split_samples(20, {.validation = 0.2, .test = 0.1, .seed = 42});
  EXPECT_THAT(parts.validation, ElementsAre(4, 7, 8, 12));
  EXPECT_THAT(parts.test, ElementsAre(14, 16));
  EXPECT_NE(parts.validation, split_samples(20, {.validation = 0.2, .seed = 43}).validation);
}

// Over many seeds each sample must be in the part about equally often. The seeds are fixed, so the
// test cannot fail by chance.
TEST(Split, GivesEverySampleTheSameChance) {
  std::vector<int> counts(20);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto parts = split_samples(20, {.validation = 0.25, .seed = seed});
    for (const std::uint64_t sample : parts.validation) ++counts[sample];
  }
  EXPECT_THAT(counts, ::testing::Each(::testing::AllOf(::testing::Gt(860), ::testing::Lt(1140))));
}

// Classes of 3, 50 and 447 samples.
TEST(Split, GivesEachClassItsShareWhereItIsStratified) {
  std::vector<std::uint8_t> labels(500, 2);
  std::fill_n(labels.begin() + 100, 50, std::uint8_t{1});
  std::fill_n(labels.begin() + 400, 3, std::uint8_t{0});
  const SplitSamples parts =
      split_samples(500, {.validation = 0.2, .test = 0.3, .stratified = true}, labels);
  EXPECT_EQ(parts.validation.size(), 100u);
  EXPECT_EQ(parts.test.size(), 150u);
  const auto count_in = [&](const Positions& part, std::uint8_t label) {
    return static_cast<double>(
        std::ranges::count_if(part, [&](std::uint64_t sample) { return labels[sample] == label; }));
  };
  for (const auto& [label, size] : {std::pair{0, 3.0}, {1, 50.0}, {2, 447.0}}) {
    const auto name = static_cast<std::uint8_t>(label);
    EXPECT_LT(std::abs(count_in(parts.validation, name) - 0.2 * size), 1) << label;
    EXPECT_LT(std::abs(count_in(parts.test, name) - 0.3 * size), 2) << label;
    EXPECT_LT(std::abs(count_in(parts.train, name) - 0.5 * size), 2) << label;
  }
}

std::string refusal_of(std::size_t count, const SplitOptions& options,
                       const std::vector<std::uint8_t>& labels = {}) {
  const auto error = testing::error_of([&] { split_samples(count, options, labels); });
  if (!error) return "accepted";
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  return error->what();
}

TEST(Split, RefusesPartsThatWouldBeEmpty) {
  EXPECT_EQ(refusal_of(4, {.validation = 0.1}),
            "the split of a data set: the validation part, 0.1 of 4 samples, would be empty: take "
            "a larger fraction, or 0");
  EXPECT_THAT(refusal_of(4, {.validation = 0.25, .test = 0.1}), HasSubstr("the test part, 0.1 of"));
  EXPECT_EQ(
      refusal_of(4, {.validation = 0.5, .test = 0.5}),
      "the split of a data set: no samples would be left to train on: validation 0.5 and test "
      "0.5 take all 4 samples; take smaller fractions");
  EXPECT_THAT(refusal_of(0, {.validation = 0}), HasSubstr("left to train on"));
  EXPECT_EQ(refusal_of(4, {.validation = 0}), "accepted");
}

TEST(Split, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal_of(4, {.validation = 1.5}),
              HasSubstr("validation fraction 1.5: expected 0 to 1"));
  EXPECT_THAT(refusal_of(4, {.test = -1}), HasSubstr("test fraction -1: expected 0 to 1"));
  EXPECT_THAT(refusal_of(4, {.validation = std::nan("")}), HasSubstr("nan"));
  EXPECT_THAT(refusal_of(4, {.validation = 0.25, .stratified = true}, {0, 1}),
              HasSubstr("2 labels for 4 samples"));
  const Dataset data = testing::small_dataset(3);
  const auto error = testing::error_of([&] { DatasetView(data, {0, 3}); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("sample 3 of a view is not in its data set of 3 samples"));
}

// A view trains as a data set that has only its samples, and tells ranks apart by its samples.
TEST(Split, MakesViewsThatATrainerTakes) {
  const Dataset data = testing::small_dataset(100);
  const DatasetSplit parts = split(data, {.validation = 0.2, .stratified = true});
  EXPECT_EQ(parts.test.count(), 0u);
  Dataset copy{.shape = data.shape, .classes = data.classes, .pixels = {}, .labels = {}};
  for (std::size_t i = 0; i < parts.train.count(); ++i) {
    const auto sample = static_cast<std::ptrdiff_t>(parts.train.sample(i));
    copy.labels.push_back(data.labels[static_cast<std::size_t>(sample)]);
    copy.pixels.insert(copy.pixels.end(), data.pixels.begin() + 36 * sample,
                       data.pixels.begin() + 36 * (sample + 1));
  }
  const auto make_model = [] { return Model<float>({6, 6, 1}, {dense(4)}); };
  testing::on_every_rank(2, [&](Communicator& communicator) {
    const TrainerOptions options{.epochs = 2, .batch_size = 10};
    Trainer<float> by_view(communicator, make_model(), parts.train, parts.validation, options);
    Trainer<float> by_copy(communicator, make_model(), copy, data, options);
    const EndReport end = by_view.run();
    EXPECT_EQ(end.weights_hash, by_copy.run().weights_hash);
    EXPECT_EQ(end.test.samples, 20u);
  });
  const auto outcomes = testing::outcomes_of_ranks(2, [&](Communicator& communicator) {
    const auto own = split(data, {.validation = 0.2, .seed = communicator.rank()});
    Trainer<float>(communicator, make_model(), own.train, own.validation, {.batch_size = 10});
  });
  EXPECT_EQ(testing::error_of(outcomes[0]).code(), ErrorCode::kMismatch);
}

TEST(Split, MakesASourceOfAPart) {
  const SampleSource<Positions> source{6, "six", [](const SampleRun& run) {
                                         return Positions(run.samples.begin(), run.samples.end());
                                       }};
  const auto part = part_of(source, {1, 5});
  EXPECT_EQ(part.count, 2u);
  EXPECT_THAT(part.digest, HasSubstr("six, part "));
  EXPECT_THAT(part.gather({.samples = Positions{1, 0}}), ElementsAre(5, 1));
  const auto error = testing::error_of([&] { part_of(source, {6}); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("sample 6 of a part is not in its source of 6 samples"));
}

}  // namespace
}  // namespace rota
