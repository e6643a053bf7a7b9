// Programs that something started which says TF_CONFIG: each task is a process, and a rank, without
// a launcher. Method: real processes on loopback, each with an environment of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "testing/own_ports.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kProgram = test_path("environment_rank");

std::string job(const std::string& name, const std::vector<std::string>& addresses) {
  std::string list;
  for (const std::string& address : addresses) {
    list += (list.empty() ? "\"" : ",\"") + address + "\"";
  }
  return "\"" + name + "\":[" + list + "]";
}

std::string tf_config(const std::string& jobs, const std::string& type, std::size_t index) {
  return R"(TF_CONFIG={"cluster":{)" + jobs + R"(},"task":{"type":")" + type + R"(","index":)" +
         std::to_string(index) + "}}";
}

std::unique_ptr<Process> start(std::vector<std::string> environment) {
  return std::make_unique<Process>(
      Command{.arguments = {kProgram}, .environment = std::move(environment)});
}

TEST(TfConfig, MakesARankOfEachTask) {
  const auto addresses = free_addresses(3);
  const std::string jobs = job("worker", {addresses[1], addresses[2]}) + "," +
                           job("chief", {addresses[0]}) + "," + job("ps", {"127.0.0.1:1"});
  std::vector<std::unique_ptr<Process>> ranks;
  ranks.push_back(start({tf_config(jobs, "chief", 0)}));
  ranks.push_back(start({tf_config(jobs, "worker", 0)}));
  ranks.push_back(start({tf_config(jobs, "worker", 1)}));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Result result = ranks[rank]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "rank " + std::to_string(rank) + " of 3 by TF_CONFIG: 6\n");
    EXPECT_EQ(result.err, rank > 0 ? ""
                                   : "rota: TF_CONFIG has 1 ps: a ring needs no parameter server, "
                                     "so that they are not used\n");
  }
}

TEST(TfConfig, MakesAWorldOfOneOfWhoIsAlone) {
  const std::string alone = "rank 0 of 1 by started by hand: 1\n";
  const std::string jobs = job("worker", {"127.0.0.1:1", "127.0.0.1:2"});
  EXPECT_EQ(start({"TF_CONFIG={}"})->wait().out, alone);
  EXPECT_EQ(start({tf_config(job("worker", {"a:1"}), "worker", 0)})->wait().out, alone);
  EXPECT_EQ(start({tf_config(jobs + "," + job("evaluator", {"e:1"}), "evaluator", 0)})->wait().out,
            alone);
}

TEST(TfConfig, TellsAParameterServerThatItCanGo) {
  const std::string jobs = job("worker", {"a:1"}) + "," + job("ps", {"p:1"});
  const Result result = start({tf_config(jobs, "ps", 0)})->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "invalid argument: TF_CONFIG makes this process a parameter server, p:1: a ring needs "
            "none, and no worker waits for it, so it can exit\n");
}

TEST(TfConfig, IsHeldAgainstWhatOthersSay) {
  const std::string jobs = job("worker", {"127.0.0.1:1", "127.0.0.1:2"});
  const std::string own = tf_config(jobs, "worker", 1);
  const auto error_of = [](std::vector<std::string> environment) {
    const Result result = start(std::move(environment))->wait();
    EXPECT_EQ(result.exit_code, 3);
    return result.err;
  };
  EXPECT_THAT(error_of({own, "RANK=1", "WORLD_SIZE=3"}),
              AllOf(HasSubstr("invalid argument: TF_CONFIG and PyTorchJob contradict each other"),
                    HasSubstr("rank 1 of 2"), HasSubstr("of 3")));
  EXPECT_THAT(error_of({own, "RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0"}),
              HasSubstr("torchrun and TF_CONFIG contradict each other about the rank"));
  EXPECT_THAT(
      error_of({own, "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4"}),
      HasSubstr("Open MPI and TF_CONFIG contradict each other about the size of the world"));
  EXPECT_THAT(error_of({own, "ROTA_SLOTS=2"}),
              HasSubstr("ROTA_SLOTS is 2, and TF_CONFIG has 1 for this host, 127.0.0.1:2: a "
                        "process is one rank; rotarun starts more"));
  EXPECT_THAT(error_of({"TF_CONFIG=nonsense"}), HasSubstr("TF_CONFIG is 'nonsense'"));
}

// Others reach it there, so that strangers could.
TEST(TfConfig, NeedsAKeyBetweenHosts) {
  const std::string jobs = job("worker", {"10.0.0.1:7001", "10.0.0.2:7001"});
  const Result result =
      start({tf_config(jobs, "worker", 0), "HOME=/nonexistent", "ROTA_KEY_FILE="})->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("so that the ranks need a key"));
}

TEST(TfConfig, IsNotReadInARankOfRotarun) {
  Command command = rotarun({"--this-host", "-np", "2", kProgram});
  command.environment = {"TF_CONFIG=nonsense"};
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 1 of 2 by rotarun -np 2: 3\n"));
}

// Each would train alone, and end with 0.
TEST(OneOfSeveral, IsNoWorldOfOne) {
  for (const char* sign : {"OMPI_COMM_WORLD_SIZE=3", "PMI_SIZE=2", "WORLD_SIZE=4", "PMIX_RANK=1"}) {
    const Result result = start({sign})->wait();
    EXPECT_EQ(result.exit_code, 3) << sign;
    const std::string words(sign);
    const std::size_t end = words.find('=');
    EXPECT_THAT(result.err,
                AllOf(HasSubstr(words.substr(0, end) + " is " + words.substr(end + 1)),
                      HasSubstr("put rotarun before the program"), HasSubstr("ROTA_WORLD=1")));
  }
  const Result step =
      start({"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_JOB_ID=7"})->wait();
  EXPECT_THAT(step.err, HasSubstr("SLURM_NTASKS is 2"));
  const Result task = start({R"(TF_CONFIG={"task":{"type":"worker","index":2}})"})->wait();
  EXPECT_EQ(task.exit_code, 3);
  EXPECT_THAT(task.err, HasSubstr("TF_CONFIG has no cluster, and its task has the index 2"));
}

TEST(OneOfSeveral, MayBeOneWhereThatIsMeantOrNobodyIsThere) {
  const std::string alone = "rank 0 of 1 by started by hand: 1\n";
  EXPECT_EQ(start({"WORLD_SIZE=4", "ROTA_WORLD=1"})->wait().out, alone);
  EXPECT_EQ(start({"WORLD_SIZE=4", "ROTA_ROLE=evaluator"})->wait().out, alone);
  EXPECT_EQ(start({"WORLD_SIZE=1", "OMPI_COMM_WORLD_SIZE=1"})->wait().out, alone);
  EXPECT_EQ(start({"PMIX_RANK=0"})->wait().out, alone);
  EXPECT_EQ(start({"SLURM_NTASKS=8", "SLURM_JOB_ID=7"})->wait().out, alone);  // salloc's shell.
  EXPECT_EQ(start({R"(TF_CONFIG={"task":{"type":"worker","index":0}})"})->wait().out, alone);
}

// It has the rank's variables, and not its descriptor.
TEST(OneOfSeveral, IsWhatARankStartsByItself) {
  const Result result = start({"ROTA_RENDEZVOUS_FD=99", "WORLD_SIZE=2"})->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("what a rank starts by itself is no rank"));
  EXPECT_EQ(start({"ROTA_RENDEZVOUS_FD=99", "WORLD_SIZE=2", "ROTA_WORLD=1"})->wait().out,
            "rank 0 of 1 by started by hand: 1\n");
}

// Where nobody gives every rank's address, a program without a launcher is a world of one.
TEST(Environment, AsksForEncryption) {
  const auto addresses = free_addresses(2);
  const auto run_two = [&](const std::string& first, const std::string& second) {
    std::vector<std::unique_ptr<Process>> ranks;
    const std::string jobs = job("worker", addresses);
    ranks.push_back(start({tf_config(jobs, "worker", 0), first}));
    ranks.push_back(start({tf_config(jobs, "worker", 1), second}));
    return ranks;
  };
  for (const auto& rank : run_two("ROTA_ENCRYPT=1", "ROTA_ENCRYPT=1")) {
    const Result result = rank->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("by TF_CONFIG: 3\n"));
  }
  const auto unlike = run_two("ROTA_ENCRYPT=1", "ROTA_ENCRYPT=0");
  const Result refused = unlike[1]->wait();
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("it encrypts, and this side does not: let both "));
  EXPECT_THAT(start({"ROTA_ENCRYPT=yes"})->wait().err,
              HasSubstr("ROTA_ENCRYPT is 'yes', not 1 or 0"));
}

// The launcher decides, and a rank does not make do with less than it was told to want.
TEST(Environment, AsksARankOfRotarunForNoMoreThanRotarunGives) {
  const auto run_ranks = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-x", "ROTA_ENCRYPT=1", kProgram});
    return run_rotarun(std::move(arguments));
  };
  const Result refused = run_ranks({"-np", "2", "--transport", "tcp"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("is to encrypt what goes over TCP, and rotarun was not told "
                                     "so: --encrypt"));
  EXPECT_EQ(run_ranks({"-np", "2", "--transport", "tcp", "--encrypt"}).exit_code, 0);
  EXPECT_EQ(run_ranks({"-np", "2", "--transport", "shm"}).exit_code, 0);
}

TEST(Environment, WithoutTfConfigIsNotRead) {
  const Result result = start({"RANK=x", "JOB_COMPLETION_INDEX=1"})->wait();
  EXPECT_EQ(result.out, "rank 0 of 1 by started by hand: 1\n") << result.err;
}

}  // namespace
}  // namespace rota::testing
