// Tests the messages about ranks that disagree, and the hash by which ranks compare their weights.
#include <gtest/gtest.h>

#include <array>

#include "base/hash.h"
#include "training/agreement.h"

namespace rota::training {
namespace {

const Facts kOurs = {{"0.dense.weights", "[784, 512]"}, {"0.dense.biases", "[512]"}};

std::string difference_text(const Facts& theirs) {
  return difference({2, theirs}, {0, kOurs}).value_or("none");
}

TEST(Agreement, OfTheSameFactsHasNoDifference) { EXPECT_EQ(difference_text(kOurs), "none"); }

TEST(Agreement, ShowsBothSidesOfAnotherShape) {
  EXPECT_EQ(difference_text({{"0.dense.weights", "[784, 512]"}, {"0.dense.biases", "[10]"}}),
            "rank 2 has 0.dense.biases [10], but rank 0 has 0.dense.biases [512]");
}

TEST(Agreement, ShowsTheFirstOfSeveralDifferences) {
  EXPECT_EQ(difference_text({{"0.dense.weights", "[784, 10]"}, {"0.dense.biases", "[10]"}}),
            "rank 2 has 0.dense.weights [784, 10], but rank 0 has 0.dense.weights [784, 512]");
}

TEST(Agreement, ShowsAParameterOfAnotherName) {
  EXPECT_EQ(
      difference_text({{"0.convolution.weights", "[784, 512]"}, {"0.dense.biases", "[512]"}}),
      "rank 2 has 0.convolution.weights [784, 512], but rank 0 has 0.dense.weights [784, 512]");
}

TEST(Agreement, ShowsWhoHasMoreThanTheOther) {
  EXPECT_EQ(difference_text({{"0.dense.weights", "[784, 512]"}}),
            "rank 2 has nothing more, but rank 0 has 0.dense.biases [512]");
  Facts more = kOurs;
  more.emplace_back("2.dense.weights", "[512, 10]");
  EXPECT_EQ(difference_text(more),
            "rank 2 has 2.dense.weights [512, 10], but rank 0 has nothing more");
}

// Of a noted fact, ranks compare the name alone, so its text is empty.
TEST(Agreement, NamesTheFactThatARankLacks) {
  const Facts few = {{"elements of", "float"}, {"plan", ""}};
  const Facts many = {{"elements of", "float"}, {"batch size", "100"}, {"plan", ""}};
  EXPECT_EQ(difference({2, few}, {0, many}).value_or("none"),
            "rank 2 has no batch size, but rank 0 has batch size 100");
  EXPECT_EQ(difference({2, many}, {0, few}).value_or("none"),
            "rank 2 has batch size 100, but rank 0 has no batch size");
}

TEST(Agreement, ShowsTheNamesAloneOfFactsThatAreNoted) {
  const Facts theirs = {{"shuffle", ""}};
  const Facts ours = {{"plan", ""}};
  EXPECT_EQ(difference({1, theirs}, {0, ours}).value_or("none"),
            "rank 1 has shuffle, but rank 0 has plan");
}

TEST(Agreement, ShowsBothSidesOfAnotherOrder) {
  EXPECT_EQ(difference_text({kOurs[1], kOurs[0]}),
            "rank 2 has 0.dense.biases [512], but rank 0 has 0.dense.weights [784, 512]");
}

TEST(Agreement, WritesShapesAsPeopleDo) {
  const std::array<ParameterInfo, 2> parameters = {
      ParameterInfo{"0.convolution.weights", {32, 5, 5, 1}}, ParameterInfo{"0.bias", {32}}};
  EXPECT_EQ(facts_of(parameters),
            (Facts{{"0.convolution.weights", "[32, 5, 5, 1]"}, {"0.bias", "[32]"}}));
}

TEST(Agreement, WritesEveryOptionOfAnOptimizer) {
  EXPECT_EQ(to_text(Sgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-4}),
            "sgd, learning rate 0.05, momentum 0.9, weight decay 1e-04");
  EXPECT_EQ(to_text(Adam{}),
            "adam, learning rate 0.001, beta1 0.9, beta2 0.999, epsilon 1e-08, weight decay 0");
}

TEST(Hash, IsFnv1a) {
  const auto hash_of = [](std::string_view text) {
    return base::fnv1a(std::as_bytes(std::span(text.data(), text.size())));
  };
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8u);
}

TEST(Hash, GoesOnWhereItStopped) {
  const std::array<float, 4> values = {1, 2, 3, 4};
  const auto bytes = std::as_bytes(std::span(values));
  EXPECT_EQ(base::fnv1a(bytes.subspan(5), base::fnv1a(bytes.first(5))), base::fnv1a(bytes));
}

}  // namespace
}  // namespace rota::training
