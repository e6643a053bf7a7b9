// The guide's programs for GPUs print on devices what the page shows for CPUs. Method: the ranks
// are processes, and a library of fake devices is in place of librota_cuda.so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_on_devices(const std::string& program, const std::string& output) {
  const testing::Result result =
      testing::run({.arguments = {testing::rotarun_path(), "-np", "2", "--share-devices",
                                  testing::test_path("docs_" + program)},
                    .environment = {"ROTA_CUDA_LIBRARY=" ROTA_FAKE_CUDA_FILE}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, output) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("on the CPU")));
}

TEST(ProgramsForGpus, SumGradients) {
  expect_on_devices("gradients_on_gpus", "y = 3.00 x + 1.00\n");
}

TEST(ProgramsForGpus, Train) {
  expect_on_devices("on_gpus", "epoch 10: 100 of 100 right\nepoch 20: 100 of 100 right\n");
}

}  // namespace
}  // namespace rota
