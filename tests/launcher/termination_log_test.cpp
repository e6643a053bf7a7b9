// Tests what rotarun writes to the file of a container's termination message.
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

class TerminationLog : public Launched {
 protected:
  TerminationLog() : path_(folder_ + "/termination-log") { std::ofstream(path_) << "before"; }

  Result run_with(const std::vector<std::string>& arguments) const {
    testing::Command command = rotarun(arguments);
    command.environment = {"ROTA_TERMINATION_LOG=" + path_};
    return run(command);
  }
  std::string left() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

TEST_F(TerminationLog, HasTheFirstCauseAsItIsSaid) {
  const Result result =
      run_with(script({"-np", "2"}, "[ $ROTA_RANK = 1 ] || exec sleep 60; echo oh >&2; exit 7"));
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(left(), StartsWith("rank 1 (pid "));
  EXPECT_THAT(left(),
              EndsWith(" exited with code 7\nits last lines of stderr:\n  oh\nexit code 7\n"));
}

TEST_F(TerminationLog, IsLeftAloneWhereAllIsWell) {
  EXPECT_EQ(run_with(script({"-np", "1"}, "true")).exit_code, 0);
  EXPECT_EQ(left(), "before");
}

TEST_F(TerminationLog, HasWhatEndsRotarunBeforeItStarts) {
  EXPECT_EQ(run_with({"--no-such-flag"}).exit_code, 2);
  EXPECT_EQ(left(), "unknown option --no-such-flag\ntry rotarun --help\nexit code 2\n");
  EXPECT_EQ(run_with({"-np", "1", "./no-such-program"}).exit_code, 127);
  EXPECT_THAT(left(), StartsWith("cannot run ./no-such-program: No such file or directory\n"));
  EXPECT_THAT(left(), EndsWith("exit code 127\n"));
}

TEST_F(TerminationLog, HasWhoAskedForTheEnd) {
  testing::Command command = rotarun(script({"-np", "1"}, "echo ready; sleep 60"));
  command.environment = {"ROTA_TERMINATION_LOG=" + path_};
  Process process(command);
  ASSERT_TRUE(process.wait_for("ready"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 143);
  EXPECT_EQ(left(), "got SIGTERM, so the job ends\nexit code 143\n");
}

TEST_F(TerminationLog, IsNeverMadeAndWaitedFor) {
  std::filesystem::remove(path_);
  EXPECT_EQ(run_with({"--no-such-flag"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(run_with({"--no-such-flag"}).exit_code, 2);
}

}  // namespace
}  // namespace rota::launcher
