// One rank with batches of 400 and four ranks with batches of 100 train the same model.
// Method: the same program runs under rotarun with one and with four ranks, and writes its weights.
// Only the order of additions may differ, so the weights agree up to rounding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

struct Training {
  std::string element;
  std::size_t sample_count;
  std::size_t epochs;
};

std::vector<double> train(const Training& training, std::size_t world_size,
                          const std::string& transport) {
  testing::TemporaryFolder folder;
  const std::string file = (folder.path() / "weights").string();
  const testing::Result result = testing::run_rotarun(
      {"-np", std::to_string(world_size), "--transport", transport,
       testing::test_path("training_replica"), training.element, std::to_string(400 / world_size),
       std::to_string(training.sample_count), std::to_string(training.epochs), file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::ifstream weights(file);
  return {std::istream_iterator<double>(weights), {}};
}

void expect_equivalent(const Training& training, double tolerance) {
  const std::vector<double> alone = train(training, 1, "shm");
  ASSERT_GT(alone.size(), 800u);
  EXPECT_TRUE(std::ranges::any_of(alone, [](double value) { return value != 0; }));
  for (const char* transport : {"shm", "tcp"}) {
    EXPECT_THAT(train(training, 4, transport),
                ::testing::Pointwise(::testing::DoubleNear(tolerance), alone))
        << transport;
  }
}

// 402 samples make a full step and a last step: in the last step two ranks have one sample, and two
// have none.
TEST(Equivalence, HoldsInDoubleAfterThreeHundredStepsWithDropout) {
  expect_equivalent({"double", 402, 150}, 1e-9);
}

TEST(Equivalence, HoldsInFloatAfterTenSteps) { expect_equivalent({"float", 4000, 1}, 1e-4); }

// The bits are equal, not only the values: the same data travels, and additions have the same
// order.
TEST(Equivalence, OfTransportsIsExact) {
  const Training training{"float", 4002, 3};
  EXPECT_EQ(train(training, 4, "shm"), train(training, 4, "tcp"));
}

}  // namespace
}  // namespace rota
