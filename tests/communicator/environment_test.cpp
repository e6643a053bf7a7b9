// Programs that rotarun has not started: each task of TF_CONFIG, and each process of another
// launcher, is a rank.
// Method: real processes on loopback, each with its own environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "os/address.h"
#include "os/listener.h"
#include "os/message_socket.h"
#include "testing/core_memory.h"
#include "testing/fake_pmi.h"
#include "testing/key_text.h"
#include "testing/leaks_of_others.h"
#include "testing/own_ports.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

std::string write_key(const TemporaryFolder& folder, const std::string& name, char byte) {
  std::string path = (folder.path() / name).string();
  std::ofstream(path) << key_text(byte);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  return path;
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
                                   : "rota: TF_CONFIG has 1 ps: rota needs no parameter server, "
                                     "so they are not used\n");
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
            "invalid argument: TF_CONFIG makes this process a parameter server, p:1: rota needs "
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
              HasSubstr("ROTA_SLOTS is 2, and TF_CONFIG has 1 for this host, 127.0.0.1:2: one "
                        "process is one rank; rotarun can start several"));
  EXPECT_THAT(error_of({"TF_CONFIG=nonsense"}), HasSubstr("TF_CONFIG is 'nonsense'"));
}

// Other hosts reach the rank at its address in TF_CONFIG, so strangers could reach the rank too.
TEST(TfConfig, NeedsAKeyBetweenHosts) {
  const std::string jobs = job("worker", {"10.0.0.1:7001", "10.0.0.2:7001"});
  const Result result =
      start({tf_config(jobs, "worker", 0), "HOME=/nonexistent", "ROTA_KEY_FILE="})->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("so the ranks need a key"));
}

TEST(TfConfig, IsNotReadInARankOfRotarun) {
  Command command = rotarun({"--this-host", "-np", "2", kProgram});
  command.environment = {"TF_CONFIG=nonsense"};
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 1 of 2 by rotarun -np 2: 3\n"));
}

// Pods of a PyTorchJob have WORLD_SIZE, but rota has no address of each of their processes. If rota
// ignored the variable, each process would train alone, and end with 0.
TEST(OneOfSeveral, IsNoWorldOfOne) {
  const Result result = start({"RANK=1", "WORLD_SIZE=4"})->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("WORLD_SIZE is 4"), HasSubstr("put rotarun before the program"),
                    HasSubstr("ROTA_WORLD=1")));
  const Result task = start({R"(TF_CONFIG={"task":{"type":"worker","index":2}})"})->wait();
  EXPECT_EQ(task.exit_code, 3);
  EXPECT_THAT(task.err, HasSubstr("TF_CONFIG has no cluster, but its task has the index 2"));
}

// SageMaker and Volcano start the program on each of several hosts, and rota reads none of their
// variables.
TEST(OneOfSeveral, IsNoWorldOfOneWhereASystemStartsItOnEachHost) {
  const std::string sage_maker = R"(SM_HOSTS=["algo-1","algo-2"])";
  for (const std::string& variable : {std::string("VC_WORKER_HOSTS=w-0.w,w-1.w"), sage_maker}) {
    const Result result = start({variable})->wait();
    EXPECT_EQ(result.exit_code, 3) << variable;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, AllOf(HasSubstr("this process was started as one of several"),
                                  HasSubstr("as in rotarun PROGRAM"), Not(HasSubstr("mpirun"))));
  }
  const std::string alone = "rank 0 of 1 by started by hand: 1\n";
  EXPECT_EQ(start({sage_maker, "ROTA_WORLD=1"})->wait().out, alone);
  EXPECT_EQ(start({sage_maker, "ROTA_HOSTS=1"})->wait().out, alone);  // As with rotarun.
  EXPECT_EQ(start({R"(SM_HOSTS=["algo-1"])"})->wait().out, alone);
  EXPECT_EQ(start({"SLURM_HET_SIZE=2", "SLURM_JOB_ID=7"})->wait().out, alone);  // A batch script.
}

TEST(OneOfSeveral, MayBeOneWhereThatIsMeantOrNobodyIsThere) {
  const std::string alone = "rank 0 of 1 by started by hand: 1\n";
  EXPECT_EQ(start({"WORLD_SIZE=4", "ROTA_WORLD=1"})->wait().out, alone);
  EXPECT_EQ(start({"WORLD_SIZE=4", "ROTA_ROLE=evaluator"})->wait().out, alone);
  EXPECT_EQ(start({"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1"})->wait().out, alone);
  EXPECT_EQ(start({"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1"})->wait().out, alone);
  EXPECT_EQ(start({"SLURM_NTASKS=8", "SLURM_JOB_ID=7"})->wait().out, alone);  // A shell of salloc.
  EXPECT_EQ(start({R"(TF_CONFIG={"task":{"type":"worker","index":0}})"})->wait().out, alone);
}

// Returns a port that belongs to this test. It tells jobs of one user apart. torchrun's agent
// listens at MASTER_PORT, so ranks with a key meet at the first port of ROTA_PORTS. Ranks of one
// machine need no further port.
const std::string& meeting_port() {
  static const std::string kAddress = free_addresses(1).front();
  static const std::string kPort = kAddress.substr(kAddress.find(':') + 1);
  return kPort;
}

std::string own_ports() { return "ROTA_PORTS=" + meeting_port() + "-" + meeting_port(); }

// Returns the variables of a process that torchrun has started on this machine.
std::vector<std::string> by_torchrun(std::size_t rank, std::size_t world_size,
                                     std::size_t local_world_size) {
  return {"RANK=" + std::to_string(rank),
          "WORLD_SIZE=" + std::to_string(world_size),
          "LOCAL_RANK=" + std::to_string(rank),
          "LOCAL_WORLD_SIZE=" + std::to_string(local_world_size),
          "MASTER_ADDR=127.0.0.1",
          "MASTER_PORT=" + meeting_port(),
          own_ports(),
          "TORCHELASTIC_USE_AGENT_STORE=True",
          "TORCHELASTIC_RUN_ID=none",
          "ROTA_KEY_FILE="};
}

TEST(OfAnotherLauncher, IsARankOfItsWorld) {
  std::vector<std::unique_ptr<Process>> ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) ranks.push_back(start(by_torchrun(rank, 3, 3)));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Result result = ranks[rank]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "rank " + std::to_string(rank) + " of 3 by torchrun: 6\n");
  }
}

// A key file is used, even if the ranks of one machine need none. A rank with another key is not
// let in. Only the ranks that do not find each other have little time.
TEST(OfAnotherLauncher, HasTheKeyThatIsNamed) {
  const auto run_two = [](const std::string& first, const std::string& second) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      auto variables = by_torchrun(rank, 2, 2);
      variables.back() = "ROTA_KEY_FILE=" + (rank == 0 ? first : second);
      if (first != second) variables.emplace_back("JOIN_SECONDS=3");
      ranks.push_back(start(std::move(variables)));
    }
    return ranks;
  };
  const TemporaryFolder folder;
  const std::string one = write_key(folder, "one", 'k');
  const std::string other = write_key(folder, "other", 'x');
  for (const auto& rank : run_two(one, one)) EXPECT_EQ(rank->wait().exit_code, 0) << rank->err();
  const auto unlike = run_two(one, other);
  EXPECT_EQ(unlike[1]->wait().exit_code, 3);
  EXPECT_THAT(unlike[1]->err(), HasSubstr("another key"));
  EXPECT_EQ(unlike[0]->wait().exit_code, 3);
}

// Method: rank 0 is never started, so rank 1 says where it has looked.
TEST(OfAnotherLauncher, LooksForRankZeroOverTcpIfAKeyIsNamed) {
  const TemporaryFolder folder;
  const auto error_with = [](const std::string& key_file) {
    auto variables = by_torchrun(1, 2, 2);
    variables.back() = "ROTA_KEY_FILE=" + key_file;
    variables.emplace_back("JOIN_SECONDS=1");
    return start(std::move(variables))->wait().err;
  };
  EXPECT_THAT(error_with(""),
              AllOf(HasSubstr("rank 1 did not reach rank 0"), HasSubstr("at @rota-"),
                    HasSubstr("; the ranks meet at a local name, which no other container reaches: "
                              "if they are in several containers, set ROTA_KEY_FILE for all of "
                              "them")));
  EXPECT_THAT(error_with(write_key(folder, "key", 'k')),
              AllOf(HasSubstr("at 127.0.0.1:" + meeting_port()), Not(HasSubstr("local name"))));
}

// Rank 0 of one job and rank 1 of another job use the same port and key file. They must not become
// a world of two. Only these two ranks have little time.
TEST(OfAnotherLauncher, IsOfTheJobThatItsLauncherNames) {
  const TemporaryFolder folder;
  const std::string key = write_key(folder, "key", 'k');
  const auto run_two = [&](std::vector<std::string> ids) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      auto variables = by_torchrun(rank, 2, 1);
      std::ranges::replace(variables, std::string("LOCAL_RANK=1"), std::string("LOCAL_RANK=0"));
      std::ranges::replace(variables, std::string("TORCHELASTIC_RUN_ID=none"), ids[rank]);
      variables.back() = "ROTA_KEY_FILE=" + key;
      if (ids[0] != ids[1]) variables.emplace_back("JOIN_SECONDS=3");
      ranks.push_back(start(std::move(variables)));
    }
    return std::pair(ranks[0]->wait(), ranks[1]->wait());
  };
  const auto [first, second] = run_two({"TORCHELASTIC_RUN_ID=one", "TORCHELASTIC_RUN_ID=one"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.exit_code, 0) << second.err;
  const auto [of_one, of_two] = run_two({"TORCHELASTIC_RUN_ID=one", "TORCHELASTIC_RUN_ID=two"});
  EXPECT_EQ(of_one.exit_code, 3);
  EXPECT_EQ(of_two.exit_code, 3);
  EXPECT_THAT(of_two.err, HasSubstr("another key"));
}

TEST(OfAnotherLauncher, IsRefusedWhereItsVariablesMakeNoSense) {
  const auto error_of = [](std::vector<std::string> environment) {
    const Result result = start(std::move(environment))->wait();
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(error_of({"OMPI_COMM_WORLD_SIZE=3"}),
              HasSubstr("OMPI_COMM_WORLD_RANK is not set, but OMPI_COMM_WORLD_SIZE is set"));
  EXPECT_THAT(error_of({"PMI_RANK=2", "PMI_SIZE=2"}), HasSubstr("PMI_RANK is 2"));
  EXPECT_THAT(error_of({"PMIX_RANK=1"}), HasSubstr("PMIX_NAMESPACE is not"));
  EXPECT_THAT(
      error_of({"PMI_RANK=1", "PMI_SIZE=2", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"}),
      HasSubstr("Open MPI and PMI contradict each other about the rank"));
  EXPECT_THAT(error_of({"PMI_RANK=1", "PMI_SIZE=2", "ROTA_WORLD=3"}),
              HasSubstr("ROTA_WORLD is 3, and PMI says rank 1 of 2"));
  EXPECT_THAT(error_of({"PMI_RANK=1", "PMI_SIZE=2", "PMI_FD=x"}),
              HasSubstr("PMI_FD is 'x', not a descriptor's number"));
  EXPECT_THAT(error_of({"PMI_RANK=1", "PMI_SIZE=2", "PMI_FD=99"}),
              HasSubstr("PMI_FD is 99, but this process has no socket there"));
  EXPECT_THAT(error_of({"PMI_RANK=1", "PMI_SIZE=2"}),
              HasSubstr("but not where rank 0 is: for all ranks, set MASTER_ADDR"));
  const auto error_of_ports = [&](const std::string& ports) {
    auto variables = by_torchrun(0, 2, 1);
    std::ranges::replace(variables, own_ports(), "ROTA_PORTS=" + ports);
    return error_of(variables);
  };
  for (const std::string ports : {"x", "7700", "7700-7699", "0-7"}) {
    EXPECT_THAT(error_of_ports(ports), HasSubstr("ROTA_PORTS is '" + ports +
                                                 "': expected FIRST-LAST, two ports from 1 to "
                                                 "65535 in ascending order"));
  }
}

// Without a store, only a key keeps strangers away from a port that other hosts can reach.
TEST(OfAnotherLauncher, NeedsAKeyBetweenHostsThatHaveNoStore) {
  auto variables = by_torchrun(0, 2, 1);
  variables.insert(variables.end(), {"MASTER_ADDR=10.0.0.1", "HOME=/nonexistent"});
  std::erase(variables, "MASTER_ADDR=127.0.0.1");
  const Result result = start(std::move(variables))->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("its ranks meet at 10.0.0.1:" + meeting_port() +
                                          ", which other hosts can"),
                                HasSubstr("ROTA_KEY_FILE"), HasSubstr("srun --mpi=pmi2")));
}

TEST(OfAnotherLauncher, IsToldThatItsServerIsGone) {
  const Result result =
      start({"PMIX_RANK=0", "PMIX_NAMESPACE=x", "PMIX_SERVER_URI41=x.0;tcp4://127.0.0.1:1",
             testing::kWithLeaksOfOthers})
          ->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, ::testing::AnyOf(HasSubstr("the launcher's PMIx server: connecting"),
                                           HasSubstr("libpmix.so.2 cannot be used")));
}

// The server takes the connection, and never answers.
TEST(OfAnotherLauncher, WaitsForItsServerNoLongerThanItMay) {
  const os::Listener server = os::listen_on(os::parse_address("127.0.0.1:0"));
  const std::string uri = "x.0;tcp4://" + server.address;
  const Result result =
      start({"PMIX_RANK=0", "PMIX_NAMESPACE=x", "PMIX_SERVER_URI41=" + uri,
             "PMIX_SERVER_URI4=" + uri, "PMIX_SERVER_URI3=" + uri, "OMPI_COMM_WORLD_RANK=0",
             "OMPI_COMM_WORLD_SIZE=2", "JOIN_SECONDS=1", testing::kWithLeaksOfOthers})
          ->wait();
  if (result.err.find("libpmix.so.2 cannot be used") != std::string::npos) {
    GTEST_SKIP() << "libpmix is not installed";
  }
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "timeout: the launcher's PMIx server: it does not answer\n");
}

// Rank 0's key goes through the store as text. Neither end keeps the text for long.
// Method: rank 0 waits for rank 1 for ever. Then the test plays rank 0, whose word leads nowhere.
TEST(OfAnotherLauncher, LeavesNoKeyInItsMemory) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "a sanitizer keeps what a process has freed";
#endif
  FakePmi launcher;
  std::vector<std::string> traces;
  for (const std::string rank : {"0", "1"}) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const os::Fd own(ends[0]);
    os::Fd of_rank(ends[1]);
    os::close_on_exec(own.get());
    Process process({.arguments = {kProgram},
                     .environment = {"PMI_RANK=" + rank, "PMI_SIZE=2", "ROTA_KEY_FILE=", "PMI_FD=0",
                                     "JOIN_SECONDS=60"},
                     .standard_input = of_rank.get()});
    of_rank.reset();
    launcher.serve(own.get());
    std::string& word = launcher.word();
    const std::size_t begin = word.find(';', word.find(';') + 1) + 1;
    const std::string key = word.substr(begin, 64);
    ASSERT_EQ(key.size(), 64U) << word;
    if (rank == "0") traces = {key.substr(0, 32), key.substr(32)};
    word = "rota1;elsewhere;" + key + ";127.0.0.1:1";
    EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
    // The rank wipes the text once the store has it.
    const auto end = base::Clock::now() + std::chrono::seconds(5);
    while (!exposure_of(process.pid(), traces).empty() && base::Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(exposure_of(process.pid(), traces), "") << "rank " << rank;
    process.signal(SIGKILL);
    process.wait();
  }
}

// In a shell of srun --pty, each program is task 0, and the other tasks are shells.
TEST(OneOfSeveral, IsToldThatOtherTasksAreAwaited) {
  const std::string job = std::to_string(::getpid());
  const Result result =
      start({"SLURM_JOB_ID=" + job, "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0",
             "SLURM_NODEID=0", "SLURM_NTASKS=4", "SLURM_STEP_NODELIST=n1", "SLURM_STEP_NUM_NODES=1",
             "SLURM_STEP_TASKS_PER_NODE=4", "ROTA_KEY_FILE=", "JOIN_SECONDS=1"})
          ->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("; the ranks are the tasks of Slurm step " + job +
                                    ".0, and each of them must run this program: in a shell of "
                                    "srun --pty, start it with rotarun --this-host"));
}

// A child process of a rank has the rank's variables, but not the rank's descriptor. A program that
// is started behind a script in Python, and is to be the rank, lacks the descriptor just the same.
// Each rank has another number, so the advice for the script names the variable.
TEST(OneOfSeveral, IsWhatARankStartsByItself) {
  const Result result = start({"ROTA_RENDEZVOUS_FD=99", "WORLD_SIZE=2"})->wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("descriptor 99 is not connected to rotarun"));
  EXPECT_THAT(result.err, HasSubstr("(pass_fds=[int(os.environ[\"ROTA_RENDEZVOUS_FD\"])])"));
  EXPECT_THAT(result.err, HasSubstr("a process that a rank starts is not a rank"));
  EXPECT_THAT(result.err, Not(HasSubstr("start this program with rotarun")));
  EXPECT_EQ(start({"ROTA_RENDEZVOUS_FD=99", "WORLD_SIZE=2", "ROTA_WORLD=1"})->wait().out,
            "rank 0 of 1 by started by hand: 1\n");
}

// rotarun gives each rank a TF_CONFIG with all ranks, for programs of other frameworks.
TEST(OneOfSeveral, IsAloneIfARankStartsItSo) {
  const std::string alone = "rank 0 of 1 by started by hand: 1\n";
  const std::string ranks = job("worker", {"127.0.0.1:1", "127.0.0.1:2"});
  const Result result =
      start({"ROTA_RENDEZVOUS_FD=99", tf_config(ranks, "worker", 1), "ROTA_WORLD=1"})->wait();
  EXPECT_EQ(result.out, alone) << result.err;
  const std::string child = "ROTA_RENDEZVOUS_FD=99 ROTA_WORLD=1 " + kProgram;
  const Result of_rank = run_rotarun({"-np", "1", "sh", "-c", child});
  EXPECT_EQ(of_rank.out, alone) << of_rank.err;
}

TEST(Role, IsThatOfRotarunOrOfTfConfig) {
  const auto role_in = [](std::vector<std::string> environment) {
    const Result result =
        run({.arguments = {kProgram, "role"}, .environment = std::move(environment)});
    return result.out + result.err;
  };
  const std::string jobs = job("worker", {"127.0.0.1:1", "127.0.0.1:2"});
  EXPECT_EQ(role_in({}), "worker\n");
  EXPECT_EQ(role_in({tf_config(jobs, "worker", 1)}), "worker\n");
  EXPECT_EQ(role_in({tf_config(jobs, "evaluator", 0)}), "evaluator\n");
  EXPECT_EQ(role_in({"ROTA_ROLE=evaluator", tf_config(jobs, "worker", 0)}), "evaluator\n");
  EXPECT_EQ(role_in({"ROTA_ROLE=worker", tf_config(jobs, "evaluator", 0)}), "worker\n");
  EXPECT_EQ(role_in({"ROTA_RENDEZVOUS_FD=99", tf_config(jobs, "evaluator", 0)}), "worker\n");
  EXPECT_THAT(role_in({"ROTA_ROLE=chief"}), HasSubstr("'chief': expected worker or evaluator"));
  EXPECT_THAT(role_in({"TF_CONFIG=x"}), HasSubstr("TF_CONFIG"));
  const Result job = run_rotarun({"-np", "1", "sh", "-c", kProgram + " role; sleep 1", ":",
                                  "--role", "evaluator", kProgram, "role"});
  EXPECT_THAT(job.out, AllOf(HasSubstr("worker\n"), HasSubstr("evaluator\n"))) << job.err;
}

// The last program of this test has no table of addresses, so it is a world of one. It checks the
// value of ROTA_ENCRYPT all the same.
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

// The launcher decides whether to encrypt. A rank that demands encryption never runs over TCP
// without it.
TEST(Environment, AsksARankOfRotarunForNoMoreThanRotarunGives) {
  const auto run_ranks = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-x", "ROTA_ENCRYPT=1", kProgram});
    return run_rotarun(std::move(arguments));
  };
  const Result refused = run_ranks({"-np", "2", "--transport", "tcp"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("is set to encrypt TCP connections, but rotarun is not: "
                                     "start rotarun with --encrypt"));
  EXPECT_EQ(run_ranks({"-np", "2", "--transport", "tcp", "--encrypt"}).exit_code, 0);
  EXPECT_EQ(run_ranks({"-np", "2", "--transport", "shm"}).exit_code, 0);
}

TEST(Environment, WithoutTfConfigIsNotRead) {
  const Result result = start({"RANK=x", "JOB_COMPLETION_INDEX=1"})->wait();
  EXPECT_EQ(result.out, "rank 0 of 1 by started by hand: 1\n") << result.err;
}

}  // namespace
}  // namespace rota::testing
