// When the device of a rank faults, each process of the job says which call first saw the fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using ::testing::ContainsRegex;

TEST(DeviceFaults, AreToldByEveryRankOfAJob) {
  const testing::Result result =
      testing::run_rotarun({"-np", "3", "--transport", "tcp", testing::test_path("faulting_rank")});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::string fault =
      "device 0: all_reduce #3 of 100000 float32 \\(sum, ring\\) failed: an illegal memory access "
      "was encountered \\(CUDA error 700\\)";
  for (const std::string rank : {"0", "1", "2"}) {
    EXPECT_THAT(result.out, ContainsRegex("rank " + rank + " says: .*" + fault)) << result.err;
  }
}

}  // namespace
}  // namespace rota
