// One rotarun starts rotarun on the other hosts. The hosts are network namespaces. The agent is a
// script that enters the namespace of the host with the given address.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include "hosts/across_hosts.h"
#include "os/fd.h"
#include "os/listener.h"
#include "testing/proc.h"

namespace rota::testing {
namespace {

// Returns whether a process runs with these words in its command line.
bool runs(const std::string& words) {
  for (const pid_t pid : all_processes()) {
    std::string line = proc_file(pid, "cmdline");
    std::ranges::replace(line, '\0', ' ');
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

class AgentsTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    agent_ = write_agent();
  }

  // Starts one rotarun, on host `first`.
  std::unique_ptr<Process> start_from(std::size_t first, std::vector<std::string> arguments,
                                      const std::vector<std::size_t>& slots = {2, 1, 3}) const {
    std::vector<std::string> all = {"-H", hosts(slots), "--agent", agent_ + " {host}"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Command command = rotarun(std::move(all));
    command.environment = environment_;
    return std::make_unique<Process>(network_->on(first, std::move(command)));
  }

  std::string agent_;
};

TEST_F(AgentsTest, OneCommandStartsTheJobEverywhere) {
  for (const std::size_t first : {0, 2}) {  // Any host may start the job.
    const Result result = start_from(first, {rank_program()})->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out, HasSubstr("rank 0 of 6 on 10.77.0.1: sum 21\n"));
    EXPECT_THAT(result.out, HasSubstr("rank 2 of 6 on 10.77.0.2: sum 21\n"));
    EXPECT_THAT(result.out, HasSubstr("rank 5 of 6 on 10.77.0.3: sum 21\n"));
  }
}

TEST_F(AgentsTest, TheOneThatStartsThemNeedNotBeOneOfThem) {
  std::vector<std::string> arguments = {"-H", network_->address(1) + ":2," + network_->address(2),
                                        "--agent", agent_ + " {host}", rank_program()};
  const Result result = std::make_unique<Process>(network_->on(0, rotarun(arguments)))->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 0 of "));
  EXPECT_THAT(result.out, HasSubstr(" on 10.77.0.2: sum "));
  EXPECT_THAT(result.out, HasSubstr(" on 10.77.0.3: sum "));
}

TEST_F(AgentsTest, OthersGetTheDirectoryAndTheVariables) {
  environment_ = {"GIVEN=from here"};
  const auto job = start_from(0, {"--wdir", folder_, "-x", "GIVEN", "-x", "SET=by -x", "/bin/sh",
                                  "-c", "echo \"$PWD $GIVEN $SET\""});
  const Result result = job->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::string expected;
  for (int rank = 0; rank < 6; ++rank) expected += folder_ + " from here by -x\n";
  EXPECT_EQ(result.out, expected);
}

TEST_F(AgentsTest, OthersGetThemOfEachProgram) {
  environment_ = {"A=from here"};
  const std::string say = "echo $0 $ROTA_RANK $A in $(pwd)";
  const std::vector<std::vector<std::string>> programs = {
      {"-np", "3", "-x", "A=1", "sh", "-c", say, "one", ":"},
      {"-np", "3", "-x", "A", "--wdir", "/usr", "sh", "-c", say, "two", ":"},
      {"--role", "evaluator", "--wdir", "/", "true"}};
  std::vector<std::string> arguments;
  for (const auto& words : programs) arguments.insert(arguments.end(), words.begin(), words.end());
  const Result result = start_from(2, arguments)->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string here = std::filesystem::current_path().string();
  EXPECT_THAT(result.out, HasSubstr("one 0 1 in " + here + "\n"));
  EXPECT_THAT(result.out, HasSubstr("one 2 1 in " + here + "\n"));
  EXPECT_THAT(result.out, HasSubstr("two 3 from here in /usr\n"));
  EXPECT_THAT(result.out, HasSubstr("two 5 from here in /usr\n"));
}

// The other hosts do not have the variable ROTA_ENCRYPT. If they did not get the setting, they
// would not encrypt, and would be refused.
TEST_F(AgentsTest, OthersEncryptWhereThisOneDoes) {
  environment_ = {"ROTA_ENCRYPT=1"};
  const Result result = start_from(0, {rank_program()})->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 5 of 6"));
}

TEST_F(AgentsTest, AFailureThereIsTheJobsHere) {
  const Result result = start_from(0, {"/bin/sh", "-c",
                                       "if [ $ROTA_RANK = 3 ]; then echo last words >&2; exit 9; "
                                       "fi; exec sleep 1000"})
                            ->wait();
  EXPECT_EQ(result.exit_code, 9);
  EXPECT_THAT(result.err, HasSubstr(", 10.77.0.3) exited with code 9"));
  EXPECT_THAT(result.err, HasSubstr("rotarun:   last words"));
  const std::size_t first = result.err.find("exited with code 9");
  EXPECT_EQ(result.err.find("exited with code 9", first + 1), std::string::npos) << result.err;
}

TEST_F(AgentsTest, AnAgentThatFailsEndsItAndIsNamed) {
  const Result result =
      run(network_->on(0, rotarun({"-H", network_->address(0) + ",10.77.0.99", "--join-timeout",
                                   "1000", "--agent", agent_ + " {host}", "true"})));
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("no way to 10.77.0.99"));
  EXPECT_THAT(result.err, HasSubstr("the agent of host 1 (10.77.0.99) exited with code 255"));
}

TEST_F(AgentsTest, AnAgentThatIsNotThereIsNamed) {
  const Result result = run(network_->on(
      0, rotarun({"-H", hosts({1, 1, 1}), "--agent", "/nonexistent/ssh {host}", "true"})));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--agent: cannot run /nonexistent/ssh"));
}

// However the job ends on the first host, nothing stays behind on the other hosts.
TEST_F(AgentsTest, TheOthersEndWithTheOneThatStartedThem) {
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    const std::string mark = "1000." + std::to_string(::getpid()) + std::to_string(signal);
    const auto job = start_from(0, {"/bin/sh", "-c", "echo ready $ROTA_RANK; exec sleep " + mark});
    for (const char* rank : {"ready 0", "ready 2", "ready 5"}) EXPECT_TRUE(job->wait_for(rank));
    job->signal(signal);
    const Result result = job->wait();
    EXPECT_EQ(signal == SIGKILL ? result.signal : result.exit_code,
              signal == SIGKILL ? SIGKILL : 128 + signal)
        << result.err;
    bool is_gone = false;
    for (int i = 0; i < 50 && !is_gone; ++i) {
      is_gone = !runs("sleep " + mark);
      if (!is_gone) ::usleep(100'000);
    }
    EXPECT_TRUE(is_gone) << signal;
  }
}

// Method: the ranks of both jobs stay until each job has added. So both jobs have their ports at
// the same time, however slow the machine is.
TEST_F(AgentsTest, TwoJobsOnTheSameHostsTakePortsOfTheirOwn) {
  const std::string end = folder_ + "/end";
  environment_ = {"STAY_UNTIL=" + end};
  const auto one = start_from(0, {rank_program()});
  const auto other = start_from(0, {rank_program()});
  for (const auto* job : {&one, &other}) {
    // Two jobs at a time, on three hosts each, take long on a busy machine. The limit of ctest is
    // longer than both waits.
    EXPECT_TRUE((*job)->wait_for("rank 5 of 6 on 10.77.0.3: sum 21\n", std::chrono::seconds(50)))
        << (*job)->err();
  }
  std::ofstream(end) << "now";
  for (const auto* job : {&one, &other}) {
    const Result result = (*job)->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

// Method: the agent starts no rotarun, so the text names the port at which the job waits.
TEST_F(AgentsTest, APortThatAnotherJobHasPromisedToItsRanksIsNotTaken) {
  std::optional<os::Fd> promise;
  network_->act_on(0, [&] { promise = os::claim_port(7700); });
  ASSERT_TRUE(promise);
  const std::string idle = write_script("idle", "#!/bin/sh\nexec cat >/dev/null\n");
  const Result result = run(network_->on(0, rotarun({"-H", hosts({1, 1}), "--join-timeout", "2",
                                                     "--agent", idle + " {host}", "true"})));
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("did not connect to 10.77.0.1:7701"));
}

// Method: root has no right to the ports below 1024.
TEST_F(AgentsTest, PortsThatOneMayNotUseAreNotCalledInUse) {
  Command command =
      rotarun({"-H", hosts({1, 1}), "--ports", "80-90", "--agent", agent_ + " {host}", "true"});
  command.arguments.insert(command.arguments.begin(),
                           {"/usr/bin/setpriv", "--bounding-set", "-net_bind_service", "--"});
  const Result result = run(network_->on(0, std::move(command)));
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("none of the ports 80 to 90 (--ports) is free: bind to "));
  EXPECT_THAT(result.err, HasSubstr(":90: Permission denied"));
  EXPECT_THAT(result.err, Not(HasSubstr("in use")));
  EXPECT_THAT(result.err, Not(HasSubstr("tried for"))) << "the right does not come by waiting";
}

TEST_F(AgentsTest, WhatIsStartedByHandWithFollowSaysWhatItIsFor) {
  Command command = rotarun({"--follow"});
  command.input = "nonsense that is long enough to be taken for a number of bytes";
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("this option is only for --agent"));
}

}  // namespace
}  // namespace rota::testing
