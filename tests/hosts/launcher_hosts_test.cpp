// Tests a job on several hosts, started with the same rotarun command on each: how it starts, and
// that it always ends in the same way on all hosts. tests/timed covers hosts that vanish or stop
// answering.
#include <csignal>

#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class LauncherHosts : public AcrossHosts {};

// Expects the same exit code and these last lines on every host.
void expect_all_end(std::vector<std::unique_ptr<Process>>& all, int exit_code,
                    const std::string& words) {
  for (std::size_t host = 0; host < all.size(); ++host) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, exit_code) << "host " << host << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(words)) << "host " << host;
  }
}

TEST_F(LauncherHosts, RanksMeetOnUnevenHosts) {
  const std::vector<std::vector<std::size_t>> worlds = {{2, 1, 3}, {1, 4, 2}, {1, 1, 1}};
  for (const auto& slots : worlds) {
    environment_ = {"ROTA_HOSTS=" + hosts(slots)};
    auto all = start_all({rank_program()});
    std::size_t world_size = 0;
    for (const std::size_t count : slots) world_size += count;
    const std::string sum = std::to_string(world_size * (world_size + 1) / 2);
    std::size_t rank = 0;
    for (std::size_t host = 0; host < all.size(); ++host) {
      const Result result = all[host]->wait();
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.err, "");
      for (std::size_t local = 0; local < slots[host]; ++local, ++rank) {
        EXPECT_THAT(result.out,
                    HasSubstr("rank " + std::to_string(rank) + " of " + std::to_string(world_size) +
                              " on " + network_->address(host) + ": sum " + sum + "\n"));
      }
    }
  }
}

// No host has its own name in the list. Method: a separate /etc/hosts, mounted over the system's,
// gives a name to each address of the list.
TEST_F(LauncherHosts, FindThemselvesInTheListByTheirAddresses) {
  std::ofstream(folder_ + "/hosts") << "10.77.0.1 one\n10.77.0.2 two\n10.77.0.3 three\n";
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < network_->host_count(); ++host) {
    Command command = rotarun({rank_program()});
    command.environment = {"ROTA_HOSTS=one:2,two:1,three:2", "ROTA_KEY_FILE=" + key_file_};
    command.arguments.insert(
        command.arguments.begin(),
        {"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
         "mount --bind " + folder_ + "/hosts /etc/hosts && exec \"$@\"", "sh"});
    all.push_back(std::make_unique<Process>(network_->on(host, std::move(command))));
  }
  const std::vector<std::string> own = {
      "rank 0 of 5 on one: ", "rank 2 of 5 on two: ", "rank 4 of 5 on three: "};
  for (std::size_t host = 0; host < all.size(); ++host) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(own[host] + "sum 15\n"));
  }
}

// A name server may learn of a pod only after its start. Method: a separate /etc/hosts gets the
// names of the list while the hosts look for themselves in it.
TEST_F(LauncherHosts, WaitInPodsForTheirNamesToHaveAddresses) {
  const std::string path = folder_ + "/hosts";
  std::ofstream(path) << "127.0.0.1 localhost\n";
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < network_->host_count(); ++host) {
    Command command = rotarun({rank_program()});
    command.environment = {"ROTA_HOSTS=one:1,two:1,three:1", "KUBERNETES_SERVICE_HOST=10.77.9.9",
                           "ROTA_KEY_FILE=" + key_file_};
    command.arguments.insert(command.arguments.begin(),
                             {"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                              "mount --bind " + path + " /etc/hosts && exec \"$@\"", "sh"});
    all.push_back(std::make_unique<Process>(network_->on(host, std::move(command))));
  }
  for (const auto& each : all) {
    EXPECT_TRUE(each->wait_for("looking for this host in ROTA_HOSTS: one: "));
  }
  std::ofstream(path) << "10.77.0.1 one\n10.77.0.2 two\n10.77.0.3 three\n";
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(": sum 6\n"));
  }
}

// The rank table is longer than one message.
TEST_F(LauncherHosts, HoldMoreRanksThanAMessageHasRowsFor) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "a sanitizer takes more memory than there is for so many ranks";
#endif
  environment_ = {"ROTA_HOSTS=" + hosts({700, 1, 700})};
  auto all = start_all({"--ports", "12000-19999", test_path("member"), "meet"});
  for (auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST_F(LauncherHosts, HostsMayComeInAnyOrderAndLate) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  const auto last = start(2, {rank_program()});
  const auto second = start(1, {rank_program()});
  EXPECT_TRUE(second->wait_for("rotarun: waiting for host 0 (10.77.0.1) at 10.77.0.1:7700"));
  const auto first = start(0, {rank_program()});
  for (const auto* each : {&first, &second, &last}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("sum 6"));
  }
}

TEST_F(LauncherHosts, MeetByTfConfigAtItsPorts) {
  std::string workers;
  for (std::size_t host = 1; host < 3; ++host) {
    workers += (host == 1 ? "\"" : ",\"") + network_->address(host) + ":2222\"";
  }
  std::vector<std::unique_ptr<Process>> all;
  const std::vector<std::string> tasks = {R"("chief","index":0)", R"("worker","index":0)",
                                          R"("worker","index":1)"};
  for (std::size_t host = 0; host < 3; ++host) {
    environment_ = {R"(TF_CONFIG={"cluster":{"chief":[")" + network_->address(0) +
                        R"(:2222"],"worker":[)" + workers + R"(]},"task":{"type":)" + tasks[host] +
                        "}}",
                    "ROTA_SLOTS=2"};
    all.push_back(start(host, {rank_program()}));
  }
  for (std::size_t host = 0; host < 3; ++host) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("rank " + std::to_string(2 * host) + " of 6"));
    EXPECT_THAT(result.out, HasSubstr("sum 21"));
  }
}

TEST_F(LauncherHosts, AParameterServerWaitsForTheEndAndSucceeds) {
  const std::string cluster = R"({"cluster":{"worker":[")" + network_->address(0) + R"(:2222",")" +
                              network_->address(1) + R"(:2222"],"ps":[")" + network_->address(2) +
                              R"(:2222"]},"task":{"type":)";
  std::vector<std::unique_ptr<Process>> all;
  for (const std::string task :
       {R"("worker","index":0}})", R"("worker","index":1}})", R"("ps","index":0}})"}) {
    environment_ = {"TF_CONFIG=" + cluster + task, "ROTA_SLOTS=1", "ROUNDS=100"};
    all.push_back(start(all.size(), {rank_program()}));
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_THAT(all[0]->out(), HasSubstr("rank 0 of 2 on 10.77.0.1: sum 3\n"));
  EXPECT_EQ(all[2]->out(), "");
  EXPECT_THAT(all[2]->err(), HasSubstr("rota needs no parameter server"));
}

// Ranks 0 to 2, on hosts 0 and 1, run the first program; ranks 3 and 4 run the second.
TEST_F(LauncherHosts, SeveralProgramsAreOneWorld) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 2, 1})};
  const std::string say = "echo $0 $ROTA_RANK of $ROTA_WORLD_SIZE $A";
  auto all = start_all({"-np", "3", "-x", "A=1", "sh", "-c", say, "one", ":", "-np", "2", "-x",
                        "A=2", "sh", "-c", say, "two"});
  std::string out;
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    out += each->out();
  }
  for (const char* line :
       {"one 0 of 5 1\n", "one 1 of 5 1\n", "one 2 of 5 1\n", "two 3 of 5 2\n", "two 4 of 5 2\n"}) {
    EXPECT_THAT(out, HasSubstr(line));
  }
}

// Runs until it is asked to end, and then prints "asked".
const std::vector<std::string> kEvaluator = {
    ":",         "--role",
    "evaluator", "sh",
    "-c",        "trap 'echo asked; exit 0' TERM; echo on; touch $0; while :; do sleep 0.02; done"};

std::vector<std::string> with_evaluator(std::vector<std::string> ranks, const std::string& file) {
  ranks.insert(ranks.end(), kEvaluator.begin(), kEvaluator.end());
  ranks.push_back(file);
  return ranks;
}

TEST_F(LauncherHosts, AnEvaluatorIsOnHostZeroWhereNoTaskIsIts) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  const std::string file = folder_ + "/on";
  auto all = start_all(
      with_evaluator({"sh", "-c", "until [ -e " + file + " ]; do sleep 0.02; done"}, file));
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_EQ(all[0]->out(), "on\nasked\n");
  EXPECT_EQ(all[1]->out() + all[2]->out(), "");
}

// TFJob writes TF_CONFIG this way: only the evaluator itself knows that an evaluator exists.
TEST_F(LauncherHosts, AnEvaluatorMayBeLeftOutOfTheCluster) {
  const std::string cluster = R"({"cluster":{"worker":[")" + network_->address(0) + R"(:2222",")" +
                              network_->address(1) + R"(:2222"]},"task":{"type":)";
  std::vector<std::unique_ptr<Process>> all;
  for (const std::string task :
       {R"("worker","index":0}})", R"("worker","index":1}})", R"("evaluator","index":0}})"}) {
    environment_ = {"TF_CONFIG=" + cluster + task, "ROTA_SLOTS=1"};
    all.push_back(start(all.size(), {"sh", "-c", "sleep 2; echo trained"}));
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_EQ(all[0]->out(), "trained\n");
  EXPECT_EQ(all[2]->out(), "");
}

// Method: the inner process notices that the outer one is gone, and tells the other hosts before it
// ends.
TEST_F(LauncherHosts, EndWith201WhereTheOuterProcessOfOneIsKilled) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  auto all = start_all({"/bin/sh", "-c", "echo began; exec sleep 1000"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("began"));
  all[1]->signal(SIGKILL);
  for (const std::size_t host : {0U, 2U}) {
    EXPECT_EQ(all[host]->wait().exit_code, 201) << all[host]->err();
    EXPECT_THAT(all[host]->err(),
                HasSubstr("lost host 1 (10.77.0.2): the outer process of its rotarun ended"));
  }
}

// Method: the outer process of host 0 is killed, as an OOM killer may do. Nobody has asked for the
// end of the job, so the hosts may be started again.
TEST_F(LauncherHosts, EndWith201WhereTheOuterProcessOfTheFirstIsKilled) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  auto all = start_all({"/bin/sh", "-c", "echo began; exec sleep 1000"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("began"));
  all[0]->signal(SIGKILL);
  for (const std::size_t host : {1U, 2U}) {
    EXPECT_EQ(all[host]->wait().exit_code, 201) << all[host]->err();
    EXPECT_THAT(all[host]->err(), HasSubstr("the outer process of its rotarun ended"));
  }
}

TEST_F(LauncherHosts, AnAgentIsForHostsThatItStarts) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  const Result result = start(0, {"--agent", "ssh {host}", "true"})->wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("but not on those of ROTA_HOSTS: leave out --agent"));
}

TEST_F(LauncherHosts, NameTheCauseWhereThePortIsTaken) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  auto first = start(0, {"true"});
  EXPECT_TRUE(first->wait_for("waiting at 10.77.0.1:7700"));
  const Result second = start(0, {"true"})->wait();
  EXPECT_EQ(second.exit_code, 126);
  EXPECT_THAT(second.err, HasSubstr("10.77.0.1:7700: Address already in use (tried for 6 s): "
                                    "rotarun waits there"));
  first->signal(SIGTERM);
  EXPECT_EQ(first->wait().exit_code, 143);
}

class Evaluating : public LauncherHosts {
 protected:
  // Starts rotarun on a host. There are one or two workers, and the evaluator is on the host after
  // them.
  std::unique_ptr<Process> start_task(std::size_t host, std::size_t worker_count,
                                      const std::vector<std::string>& arguments) {
    std::string workers;
    for (std::size_t i = 0; i < worker_count; ++i) {
      workers += (i == 0 ? "\"" : ",\"") + network_->address(i) + ":2222\"";
    }
    const bool is_worker = host < worker_count;
    environment_ = {R"(TF_CONFIG={"cluster":{"worker":[)" + workers + R"(],"evaluator":[")" +
                        network_->address(worker_count) + R"(:2222"]},"task":{"type":")" +
                        (is_worker ? "worker" : "evaluator") + R"(","index":)" +
                        std::to_string(is_worker ? host : 0) + "}}",
                    "ROTA_SLOTS=1"};
    return start(host, arguments);
  }
};

TEST_F(Evaluating, RunsOnTheHostWhoseTaskItIs) {
  for (const std::size_t worker_count : {2U, 1U}) {
    const std::string file = folder_ + "/on" + std::to_string(worker_count);
    const auto command = with_evaluator(
        {"sh", "-c", "until [ -e " + file + " ]; do sleep 0.02; done; echo ranks"}, file);
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host <= worker_count; ++host) {
      all.push_back(start_task(host, worker_count, command));
    }
    for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    EXPECT_EQ(all[0]->out(), "ranks\n");
    EXPECT_EQ(all.back()->out(), "on\nasked\n");
  }
}

TEST_F(Evaluating, EndsTheJobWhereItFails) {
  const std::vector<std::string> command = {"sleep",     "1000", ":",  "--role",
                                            "evaluator", "sh",   "-c", "echo why >&2; exit 9"};
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) all.push_back(start_task(host, 2, command));
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 9) << each->err();
    EXPECT_THAT(each->err(), HasSubstr("evaluator 0 (pid "));
    EXPECT_THAT(each->err(), HasSubstr("rotarun:   why\n"));
  }
}

// The ranks do not need the evaluator: their job goes on.
TEST_F(Evaluating, IsTurnedAwayWhereItComesLateAndCannotRun) {
  const std::string file = folder_ + "/go";
  const std::vector<std::string> wait = {
      "sh", "-c", "echo ranks; until [ -e " + file + " ]; do sleep 0.02; done"};
  std::vector<std::unique_ptr<Process>> workers;
  for (std::size_t host = 0; host < 2; ++host) workers.push_back(start_task(host, 2, wait));
  EXPECT_TRUE(workers[1]->wait_for("ranks"));
  auto evaluator = start_task(2, 2, {"there-is-none", ":", "--role", "evaluator", "sleep", "1000"});
  EXPECT_EQ(evaluator->wait().exit_code, 127) << evaluator->err();
  std::ofstream(file) << "\n";
  for (const auto& each : workers) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
}

// Method: all ranks of the job are on one host. The evaluator on another host waits for the job's
// end.
TEST_F(Evaluating, OfARingOfOneHostIsToldItsEnd) {
  const std::string file = folder_ + "/go";
  const std::vector<std::string> wait = {"sh", "-c",
                                         "until [ -e " + file + " ]; do sleep 0.02; done; exit 5"};
  auto worker = start_task(0, 1, wait);
  auto evaluator = start_task(1, 1, wait);
  EXPECT_TRUE(evaluator->wait_for("this host has no ranks: rotarun waits here until the job ends"));
  std::ofstream(file) << "\n";
  EXPECT_EQ(worker->wait().exit_code, 5);
  EXPECT_EQ(evaluator->wait().exit_code, 5);
}

// Method: rank 3 of 6 runs on host 2, and writes its last words there.
TEST_F(LauncherHosts, TheFirstFailureEndsTheJobEverywhereWithItsCode) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 3})};
  auto all = start_all({"/bin/sh", "-c",
                        "if [ $ROTA_RANK = 3 ]; then echo last words >&2; exit 7; fi; "
                        "exec sleep 1000"});
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_THAT(result.err, HasSubstr("rank 3 (pid "));
    EXPECT_THAT(result.err, HasSubstr(", 10.77.0.3) exited with code 7\n"));
    EXPECT_THAT(result.err, HasSubstr("rotarun:   last words\n"));
  }
}

TEST_F(LauncherHosts, ARankThatIsKilledIsNamedEverywhere) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 2, 1}), "ROUNDS=100000"};
  auto all = start_all(
      {"/bin/sh", "-c", "[ $ROTA_RANK != 2 ] || (sleep 1; kill -9 $$) & exec " + rank_program()});
  expect_all_end(all, 137, "rank 2 (pid ");
  EXPECT_THAT(all[0]->err(), HasSubstr("10.77.0.2) was killed by SIGKILL"));
}

TEST_F(LauncherHosts, EndsWith127EverywhereWhereOneHostLacksTheProgram) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) {
    all.push_back(start(host, {host == 1 ? "/nonexistent/program" : rank_program()}));
  }
  expect_all_end(all, 127, "cannot run /nonexistent/program: No such file or directory");
  EXPECT_THAT(all[2]->err(), HasSubstr("host 1 (10.77.0.2): "));
}

TEST_F(LauncherHosts, ASignalToOneEndsAllAndNoneWith0) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  for (const std::size_t victim : {0, 2}) {
    auto all =
        start_all({"/bin/sh", "-c", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done"});
    for (const auto& each : all) ASSERT_TRUE(each->wait_for("ready"));
    all[victim]->signal(SIGTERM);
    expect_all_end(all, 143, "got SIGTERM, so the job ends");
  }
}

// Method: at the end the program writes more than a pipe holds. The reader begins to read only
// after the time in which a silent launcher would count as lost.
TEST_F(LauncherHosts, ASlowReaderOfOneHostIsNoSilenceForTheOthers) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  const std::string program = "[ $ROTA_RANK != 0 ] || head -c 100000 /dev/zero | tr '\\0' x";
  const auto second = start(1, {"/bin/sh", "-c", program});
  const auto third = start(2, {"/bin/sh", "-c", program});
  Command command{.arguments = {"/bin/sh", "-c", R"("$0" /bin/sh -c "$1" | (sleep 7; wc -c))",
                                rotarun_path(), program},
                  .environment = environment_};
  command.environment.push_back("ROTA_KEY_FILE=" + key_file_);
  const Result first = Process(network_->on(0, std::move(command))).wait();
  EXPECT_EQ(first.out, "100000\n") << first.err;
  for (const auto* each : {&second, &third}) EXPECT_EQ((*each)->wait().exit_code, 0);
}

TEST_F(LauncherHosts, ALauncherThatIsKilledIsAHostThatIsLost) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  auto all = start_all({"/bin/sh", "-c", kSayInner + "exec sleep 1000"});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("inner "));
  const int inner = std::stoi(all[1]->out().substr(all[1]->out().find("inner ") + 6));
  ::kill(inner, SIGKILL);
  EXPECT_EQ(all[1]->wait().exit_code, 137);
  for (const std::size_t host : {0, 2}) {
    const Result result = all[host]->wait();
    EXPECT_EQ(result.exit_code, 201);
    EXPECT_THAT(result.err, HasSubstr("lost host 1 (10.77.0.2): its launcher ended"));
  }
}

}  // namespace
}  // namespace rota::testing
