// Two jobs of one user run at once, and no variable tells them apart. A rank meets the ranks that
// the same process has started. Method: a shell is the launcher of a job. It starts rank 0, and
// rank 1 when it has read a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/time.h"
#include "os/fd.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::HasSubstr;

Command job_of_two_ranks() {
  return {.arguments = {"/bin/sh", "-c",
                        "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 \"$0\" & read line; "
                        "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=1 \"$0\" || exit; "
                        "wait $!",
                        test_path("environment_rank")},
          .environment = {"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
                          "ROTA_KEY_FILE=", "JOIN_SECONDS=20"}};
}

// Waits until a rank that this launcher has started listens at its local name. Returns false if
// that takes too long.
bool listens_for_ranks_of(const Process& launcher) {
  const std::string end_of_name = "-of-" + std::to_string(launcher.pid());
  const auto deadline = base::Clock::now() + std::chrono::seconds(15);
  while (base::Clock::now() < deadline) {
    std::ifstream file("/proc/net/unix");
    const std::string names{std::istreambuf_iterator<char>(file), {}};
    if (names.find(end_of_name) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void expect_both_ranks(const Result& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 0 of 2 by Open MPI: 3\n"));
  EXPECT_THAT(result.out, HasSubstr("rank 1 of 2 by Open MPI: 3\n"));
}

TEST(OfAnotherLauncher, IsOfTheJobThatItsOwnLauncherHasStarted) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const os::Fd of_first(ends[0]);
  const os::Fd go(ends[1]);
  Command command = job_of_two_ranks();
  command.standard_input = of_first.get();
  Process first(command);
  EXPECT_TRUE(listens_for_ranks_of(first)) << first.err();
  command = job_of_two_ranks();
  command.input = "go\n";
  expect_both_ranks(run(command));  // Meanwhile rank 0 of the first job waits for its rank 1.
  ASSERT_EQ(::write(go.get(), "go\n", 3), 3);
  expect_both_ranks(first.wait());
}

}  // namespace
}  // namespace rota::testing
