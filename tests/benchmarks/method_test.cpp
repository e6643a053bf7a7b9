// The method of the all-reduce benchmark, on a group of one rank that can be told to do sums wrong.
#include "all_reduce/method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "peak_memory.h"

namespace rota::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Alone final : public Group {
 public:
  explicit Alone(float error) : error_(error) {}

  std::string name() const override { return "alone"; }
  std::size_t rank() const override { return 0; }
  std::size_t world_size() const override { return 1; }
  std::span<float> allocate(std::size_t count) override {
    memory_.resize(count);
    return memory_;
  }
  void all_reduce(std::span<float> values) override { values.back() += error_; }
  void barrier() override {}
  void take_largest(std::span<double>) override {}

 private:
  float error_;
  std::vector<float> memory_;
};

TEST(Sizes, HaveUnits) {
  EXPECT_THAT(parse_sizes("4"), ElementsAre(4));
  EXPECT_THAT(parse_sizes("8,3K,64M,1G"), ElementsAre(8, 3 << 10, 64 << 20, 1 << 30));
}

TEST(Sizes, ArePositiveMultiplesOfAFloat) {
  for (const char* text : {"", "0", "5", "-4", "4,,8", "x", "4X", "4KB"}) {
    EXPECT_THROW(parse_sizes(text), std::invalid_argument) << text;
  }
}

TEST(Method, PrintsARowForEachSize) {
  Alone group(0);
  testing::internal::CaptureStdout();
  measure(group, {.sizes = {4, 1024}, .iterations = 3, .json = true});
  const std::string rows = testing::internal::GetCapturedStdout();
  EXPECT_THAT(rows, HasSubstr("{\"name\": \"alone\", \"ranks\": 1, \"bytes\": 4,"));
  EXPECT_THAT(rows, HasSubstr("\"bytes\": 1024,"));
}

TEST(Method, RefusesAWrongSum) {
  Alone group(1);
  EXPECT_THROW(measure(group, {.sizes = {64}, .iterations = 1, .json = true}), std::runtime_error);
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
