// An unchanged program of Open MPI runs in plain pods: there is no ssh, no mpirun, and no pod that
// launches the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/kubectl.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Returns a job of two pods, one on each node, with two ranks each.
std::string job_of(const Arguments& command) {
  return with_component(
      render({"--image", image("rota-openmpi"), "--workers", "2", "--slots", "2"}, command),
      "spread");
}

std::string logs_of(const Namespace& place) {
  std::string logs;
  for (const auto& pod : place.pods()) logs += place.log(name_of(pod));
  return logs;
}

TEST(AProgramOfOpenMpi, AddsOverTheRanksOfTwoPods) {
  const Namespace place;
  place.apply(job_of({"openmpi_member", "sum"}));
  ASSERT_EQ(place.end_of("job/mnist", 180s), "Complete");
  const std::string logs = logs_of(place);
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(logs, HasSubstr(rank + std::string(" of 4: sum 10")));
  }
}

TEST(AProgramOfOpenMpi, EndsEverywhereWithItsCodeWhereItAborts) {
  const Namespace place;
  place.apply(job_of({"openmpi_member", "abort", "3", "42"}));
  ASSERT_EQ(place.end_of("job/mnist", 180s), "Failed");
  EXPECT_THAT(place.ends(), Each(StartsWith("42 rank 3 ")));
}

}  // namespace
}  // namespace rota::testing
