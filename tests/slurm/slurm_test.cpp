// Tests what a real Slurm cluster tells the programs that it starts, how rotarun reads that, and
// how programs started by srun become ranks. All tests share one cluster of two nodes, n1 and n2,
// on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "mnist/few_images.h"
#include "testing/key_text.h"
#include "testing/own_ports.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "testing/terminal.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Result;

const std::string kScript = testing::source_path("tests/slurm/slurm_cluster.sh");
const std::string kByHand = testing::test_path("docs_by_hand");
const std::string kAverage = testing::test_path("docs_average");
constexpr int kCannot = 77;

// The options of a heterogeneous job with two components, each of them one node.
const std::vector<std::string> kTwoComponents = {"-N1", "-wn1", ":", "-N1", "-wn2"};

class Cluster : public ::testing::Environment {
 public:
  void SetUp() override {
    testing::adopt_orphans();
    ports_.emplace();
    const Result result = testing::run(
        {.arguments = {kScript, "start", folder(), ports_->first(), std::to_string(::getpid())}});
    if (result.exit_code == 0) return;
    if (result.exit_code == kCannot) {
      obstacle() = result.err;
    } else {
      fault() = std::to_string(result.exit_code) + ": " + result.err;
    }
  }
  void TearDown() override {
    const Result result = testing::run({.arguments = {kScript, "stop", folder()}});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(testing::all_gone_within(std::chrono::seconds(5))) << "a process was left behind";
    EXPECT_FALSE(std::filesystem::exists(folder()));
  }

  static std::string folder() {
    return ::testing::TempDir() + "rota_slurm_" + std::to_string(::getpid());
  }
  // The reason why no cluster can run here.
  static std::string& obstacle() {
    static std::string text;
    return text;
  }
  // What is wrong with a cluster that could run here.
  static std::string& fault() {
    static std::string text;
    return text;
  }

 private:
  std::optional<testing::OwnPorts> ports_;
};

const ::testing::Environment* const kCluster =
    ::testing::AddGlobalTestEnvironment(new Cluster);  // NOLINT: GoogleTest deletes it.

class Slurm : public ::testing::Test {
 protected:
  void SetUp() override {
    // After a fatal failure of the environment, GoogleTest would skip the tests. ctest looks for
    // skips first, so each test fails.
    ASSERT_EQ(Cluster::fault(), "");
    if (!Cluster::obstacle().empty()) GTEST_SKIP() << Cluster::obstacle();
  }

  static testing::Command slurm_command(std::vector<std::string> arguments,
                                        std::vector<std::string> variables = {}) {
    variables.push_back("SLURM_CONF=" + Cluster::folder() + "/slurm.conf");
    variables.insert(variables.begin(), "/usr/bin/env");
    arguments.insert(arguments.begin(), variables.begin(), variables.end());
    return {.arguments = std::move(arguments)};
  }

  static Result run(std::vector<std::string> arguments, std::vector<std::string> variables = {}) {
    return testing::run(slurm_command(std::move(arguments), std::move(variables)));
  }

  // Returns the output lines of all tasks of a step, in alphabetical order.
  static std::vector<std::string> lines_of(const Result& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> lines;
    std::istringstream in(result.out);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  }

  // Runs a script as a batch job. Returns its output after the job has ended.
  static std::string run_batch(std::vector<std::string> options, const std::string& text) {
    const std::string script = Cluster::folder() + "/batch";
    const std::string output = Cluster::folder() + "/batch.out";
    std::ofstream(script) << "#!/bin/sh\n" << text << "\n";
    options.insert(options.begin(), {"sbatch", "--wait", "--output", output});
    options.push_back(script);
    const Result result = run(std::move(options));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::ifstream in(output);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Returns a command that salloc runs in a heterogeneous job of kTwoComponents.
  static std::vector<std::string> in_two_components(const std::vector<std::string>& command) {
    std::vector<std::string> arguments = {"salloc"};
    arguments.insert(arguments.end(), kTwoComponents.begin(), kTwoComponents.end());
    arguments.insert(arguments.end(), command.begin(), command.end());
    return arguments;
  }

  // Returns a command that runs "rotarun --explain" in only one task.
  static std::vector<std::string> explain_in(const std::string& task) {
    return {"sh", "-c",
            "[ $SLURM_PROCID != " + task + " ] || exec " + testing::rotarun_path() + " --explain"};
  }

  static std::string make_key(const std::string& name, char byte) {
    std::string path = Cluster::folder() + "/" + name;
    std::ofstream(path) << testing::key_text(byte, 32);
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }

  static std::vector<std::string> srun(std::vector<std::string> options,
                                       const std::vector<std::string>& command) {
    options.insert(options.begin(), "srun");
    options.insert(options.end(), command.begin(), command.end());
    return options;
  }
};

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

TEST_F(Slurm, TellsATaskOfAStepWhatIsRead) {
  const auto lines = lines_of(run(srun(
      {"-n3", "-N2", "--distribution=block"},
      {"sh", "-c",
       "echo $SLURM_PROCID of $SLURM_NTASKS, $SLURM_LOCALID on $SLURM_NODEID of $SLURM_NNODES, "
       "$SLURM_STEP_ID $SLURM_STEP_NUM_TASKS $SLURM_STEP_NUM_NODES $SLURM_STEP_NODELIST "
       "$SLURM_STEP_TASKS_PER_NODE $SLURM_JOB_NODELIST $SLURMD_NODENAME"})));
  EXPECT_THAT(lines, ElementsAre("0 of 3, 0 on 0 of 2, 0 3 2 n[1-2] 2,1 n[1-2] n1",
                                 "1 of 3, 1 on 0 of 2, 0 3 2 n[1-2] 2,1 n[1-2] n1",
                                 "2 of 3, 0 on 1 of 2, 0 3 2 n[1-2] 2,1 n[1-2] n2"));
}

TEST_F(Slurm, MakesATaskOfSeveralOnANodeARank) {
  const Result result = run(srun({"-N2", "--ntasks-per-node=2"}, explain_in("3")));
  EXPECT_THAT(result.out,
              HasSubstr("decided by Slurm step: rank 3 of 4, 1 on its host, on 2 hosts"));
  EXPECT_THAT(result.out, HasSubstr("world 4 on 2 hosts · tcp · Slurm step"));
  EXPECT_THAT(result.out, HasSubstr("   2      0  n2 "));
}

TEST_F(Slurm, MakesTheOnlyTaskOfANodeTheHost) {
  const Result result = run(srun({"-N2", "--ntasks-per-node=1"}, explain_in("1")));
  EXPECT_THAT(result.out, HasSubstr("decided by Slurm step: host 1 (n2) of 2, rendezvous at n1"));
}

TEST_F(Slurm, SaysTheSameWithPmi) {
  for (const std::string count : {"1", "2"}) {
    const auto ask = [&](const std::string& mpi) {
      const Result result =
          run(srun({"-N2", "--ntasks-per-node=" + count, "--mpi=" + mpi}, explain_in("1")));
      EXPECT_EQ(result.exit_code, 0) << result.err;
      return result.out.substr(0, result.out.find(", job "));
    };
    EXPECT_EQ(ask("pmi2"), ask("none"));
  }
}

TEST_F(Slurm, MakesAnAllocationRoomForRanks) {
  const Result result = run(
      {"salloc", "-N2", "--ntasks-per-node=2", testing::rotarun_path(), "--show-ranks", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json table = json::parse(result.out);
  EXPECT_EQ(table["source"], "Slurm allocation");
  EXPECT_EQ(table["world"], 4);
  std::string hosts;
  for (const json& row : table["ranks"]) hosts += row["host"].get<std::string>() + " ";
  EXPECT_EQ(hosts, "n1 n1 n2 n2 ");
}

// The batch script itself runs on the first node and belongs to no step.
TEST_F(Slurm, MakesABatchScriptTheFirstHost) {
  const std::string out =
      run_batch({"-N2", "--ntasks-per-node=2"}, testing::rotarun_path() + " --explain; srun " +
                                                    testing::rotarun_path() + " --explain");
  EXPECT_THAT(out, HasSubstr("decided by Slurm allocation: host 0 (n1) of 2, rendezvous at n1"));
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(out, HasSubstr("decided by Slurm step: rank " + std::string(rank) + " of 4"));
  }
}

TEST_F(Slurm, LetsRotarunStartTheRanksOfOneNode) {
  const std::string command = testing::rotarun_path() + " sh -c 'echo rank $ROTA_RANK' | sort";
  EXPECT_EQ(run_batch({"-N1", "-n3"}, command), "rank 0\nrank 1\nrank 2\n");
  const Result step =
      run(srun({"-N1", "-n1"}, {testing::rotarun_path(), "-np", "3", "echo", "on"}));
  EXPECT_EQ(step.out, "on\non\non\n") << step.err;
}

// rotarun starts the rotaruns of all nodes in one step. --address is needed because the names of
// these nodes have no addresses.
TEST_F(Slurm, LetsRotarunStartItsPeersInAnAllocation) {
  const std::string program = testing::test_path("sum_rank");
  const Result result = run({"salloc", "-N2", "--ntasks-per-node=2", testing::rotarun_path(),
                             "--address", "127.0.0.1", program});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* line : {"rank 0 of 4 on n1: sum 10\n", "rank 1 of 4 on n1: sum 10\n",
                           "rank 2 of 4 on n2: sum 10\n", "rank 3 of 4 on n2: sum 10\n"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
  const Result failed =
      run({"salloc", "-N2", "--ntasks-per-node=1", testing::rotarun_path(), "--address",
           "127.0.0.1", "sh", "-c", "[ $ROTA_RANK = 0 ] || exit 5; exec sleep 1000"});
  EXPECT_EQ(failed.exit_code, 5) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr(", n2) exited with code 5"));
}

// Outside of a step, Slurm's plain variables have only the first component, or nothing.
TEST_F(Slurm, RefusesAHeterogeneousJobOutsideOfAStep) {
  const std::string advice = "srun --het-group=0-1 --ntasks-per-node=1 rotarun";
  const Result shell = run(in_two_components({testing::rotarun_path(), "echo", "ran"}));
  EXPECT_EQ(shell.exit_code, 78) << shell.err;
  EXPECT_EQ(shell.out, "");
  EXPECT_THAT(shell.err, HasSubstr("SLURM_HET_SIZE is 2, so the job has other hosts"));
  EXPECT_THAT(shell.err, HasSubstr(advice));
  const std::string script =
      run_batch(kTwoComponents, testing::rotarun_path() + " echo ran; echo code $?; " +
                                    testing::rotarun_path() + " --this-host -np 1 echo alone");
  EXPECT_THAT(script, HasSubstr(advice));
  EXPECT_THAT(script, HasSubstr("code 78\nalone\n"));
  EXPECT_THAT(script, Not(HasSubstr("ran\n")));
}

// Method: no rank is started, because the names of these nodes have no addresses.
TEST_F(Slurm, ReadsAStepAcrossTheComponentsOfAHeterogeneousJob) {
  const Result result =
      run(in_two_components(srun({"--het-group=0-1", "--ntasks-per-node=1"}, explain_in("1"))));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("decided by Slurm step: host 1 (n2) of 2, rendezvous at n1"));
}

// The tasks are ranks already, so each rotarun starts one rank. MASTER_ADDR is needed because the
// names of these nodes have no addresses.
TEST_F(Slurm, LetsEachTaskOfANodeBeARotarunWithOneRank) {
  const auto sums = lines_of(run(
      srun({"-N2", "--ntasks-per-node=2"}, {"env", "MASTER_ADDR=127.0.0.1", testing::rotarun_path(),
                                            "--insecure", testing::test_path("sum_rank")})));
  EXPECT_THAT(sums, ElementsAre("rank 0 of 4 on n1: sum 10", "rank 1 of 4 on n1: sum 10",
                                "rank 2 of 4 on n2: sum 10", "rank 3 of 4 on n2: sum 10"));
  const auto places = lines_of(
      run(srun({"-N2", "--ntasks-per-node=2"},
               {"env", "MASTER_ADDR=127.0.0.1", testing::rotarun_path(), "--insecure", "sh", "-c",
                "echo $ROTA_RANK $ROTA_LOCAL_RANK/$ROTA_LOCAL_WORLD_SIZE on $GROUP_RANK"})));
  EXPECT_THAT(places, ElementsAre("0 0/2 on 0", "1 1/2 on 0", "2 0/2 on 1", "3 1/2 on 1"));
}

// The rotaruns of one node meet at a local name. Another step of the job at the same time has
// another name.
TEST_F(Slurm, LetsTheRotarunsOfOneNodeMeetWithoutAKey) {
  const std::string steps = "for step in 1 2; do srun --overlap -N1 -n2 env HOME=/nonexistent " +
                            testing::rotarun_path() + " " + testing::test_path("sum_rank") +
                            " & done; wait";
  EXPECT_THAT(lines_of(run({"salloc", "-N1", "-n2", "sh", "-c", steps})),
              ElementsAre("rank 0 of 2 on n1: sum 3", "rank 0 of 2 on n1: sum 3",
                          "rank 1 of 2 on n1: sum 3", "rank 1 of 2 on n1: sum 3"));
}

// The tasks of one node meet at a local name, and those of two nodes at Slurm's own store.
TEST_F(Slurm, MakesTasksOfAProgramRanks) {
  const std::vector<std::string> mean = {"mean of ranks: 1"};
  EXPECT_EQ(lines_of(run(srun({"-n3", "-N1"}, {"env", "HOME=/nonexistent", kAverage}))), mean);
  EXPECT_EQ(lines_of(run(srun({"-n3", "-N2", "--mpi=pmi2"}, {kAverage}))), mean);
  EXPECT_EQ(lines_of(run(srun({"-n3", "-N2", "--mpi=pmix"}, {kAverage}))), mean);
}

// Such as torchrun, or mpiexec in a shell. srun's server, if there is one, knows the task only.
// Method: a shell gives its processes the variables of torchrun. mpiexec is not to ask Slurm for
// nodes, because their names have no addresses.
TEST_F(Slurm, LetsALauncherInTheOnlyTaskOfANodeMakeRanks) {
  const std::string launcher =
      "for rank in 0 1 2; do RANK=$rank WORLD_SIZE=3 LOCAL_RANK=$rank LOCAL_WORLD_SIZE=3 "
      "GROUP_WORLD_SIZE=1 TORCHELASTIC_RUN_ID=shell-$$ " +
      kAverage + " & done; wait";
  for (const std::string mpi : {"none", "pmi2", "pmix"}) {
    SCOPED_TRACE(mpi);
    EXPECT_THAT(lines_of(run(srun({"-n1", "--mpi=" + mpi},
                                  {"env", "HOME=/nonexistent", "sh", "-c", launcher}))),
                ElementsAre("mean of ranks: 1"));
  }
  const std::string hydra = "/usr/bin/mpiexec.hydra";
  if (!std::filesystem::exists(hydra)) return;  // A skip would hide all tests of this program.
  for (const std::string mpi : {"none", "pmi2"}) {
    SCOPED_TRACE("hydra, " + mpi);
    EXPECT_THAT(lines_of(run(srun({"-n1", "--mpi=" + mpi},
                                  {"env", "HOME=/nonexistent", hydra, "-rmk", "user", "-launcher",
                                   "fork", "-np", "3", kAverage}))),
                ElementsAre("mean of ranks: 1"));
  }
}

// Method: MASTER_ADDR is needed because the names of these nodes have no addresses.
TEST_F(Slurm, AsksForAKeyBetweenNodesThatHaveNoStore) {
  const Result result = run(srun({"-n3", "-N2"}, {"env", "HOME=/nonexistent", kAverage}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("its ranks meet at n1:7700, which other hosts can reach"));
  EXPECT_THAT(result.err, HasSubstr("srun --mpi=pmi2"));
  EXPECT_EQ(result.out, "");
  const testing::OwnPorts ports;
  const std::string key = make_key("store_key", 'k');
  EXPECT_THAT(lines_of(run(srun({"-n3", "-N2"},
                                {"env", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + ports.first(),
                                 "ROTA_KEY_FILE=" + key, kAverage}))),
              ElementsAre("mean of ranks: 1"));
}

// srun --pty gives task 0 a terminal. The other tasks are shells, which end without an input.
// Method: the shell gets its commands on its command line, because a terminal repeats what is
// typed.
TEST_F(Slurm, SaysInAShellOfAStepThatTheOtherTasksAreAwaited) {
  const testing::Terminal terminal;
  testing::Command shell = slurm_command(
      srun({"-n2", "-N1", "--pty"},
           {"sh", "-c",
            "[ $SLURM_PROCID = 0 ] || exit 0; tty -s && echo terminal; " + testing::rotarun_path() +
                " --join-timeout 1 true; echo code $?; exec " + testing::rotarun_path() +
                " --this-host -np 1 echo rank of one"}));
  shell.standard_input = shell.standard_output = terminal.theirs.get();
  testing::Process process(std::move(shell));
  const std::string screen = terminal.read_until("rank of one\r\n");
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(screen, HasSubstr("terminal\r\n"));
  EXPECT_THAT(screen, HasSubstr("; the hosts are the tasks of Slurm step "));
  EXPECT_THAT(screen, HasSubstr("code 200\r\n"));
  EXPECT_THAT(screen, HasSubstr("rank of one\r\n"));
}

// Slurm sends the signal to the batch script, which rotarun has replaced, 10 to 40 seconds after
// the start: Slurm looks at time limits twice a minute. Only rotarun can tell the ranks of n2.
TEST_F(Slurm, WarnsTheRanksOfAllNodesBeforeTheTimeIsOver) {
  const std::string out = run_batch(
      {"-N2", "--ntasks-per-node=1", "--time=1", "--signal=B:USR1@20"},
      "exec " + testing::rotarun_path() + " --address 127.0.0.1 sh -c \"" +
          "trap 'echo rank \\$ROTA_RANK warned; exit 0' USR1; " + "while :; do sleep 0.1; done\"");
  EXPECT_THAT(out, HasSubstr("rank 0 warned\n"));
  EXPECT_THAT(out, HasSubstr("rank 1 warned\n"));
}

// Without "B:", Slurm sends the signal to the processes of steps: to the rotarun of each node.
TEST_F(Slurm, LeavesRotarunAliveInAStepThatGetsASignal) {
  const std::string out = run_batch(
      {"-N2", "--ntasks-per-node=1"},
      "cd " + Cluster::folder() + "; exec " + testing::rotarun_path() +
          " --address 127.0.0.1 sh -c \"trap 'echo rank \\$ROTA_RANK warned; exit 0' USR1; " +
          "touch ready.\\$ROTA_RANK; if [ \\$ROTA_RANK = 0 ]; then " +
          "until [ -e ready.1 ]; do sleep 0.1; done; scancel --signal=USR1 $SLURM_JOB_ID; fi; " +
          "while :; do sleep 0.1; done\"");
  EXPECT_THAT(out, HasSubstr("rank 0 warned\n"));
  EXPECT_THAT(out, HasSubstr("rank 1 warned\n"));
}

// Steps whose ranks meet at a local name, and through each kind of Slurm's own store.
std::vector<std::vector<std::string>> kinds_of_steps() {
  return {{"-n3", "-N1"}, {"-n3", "-N2", "--mpi=pmi2"}, {"-n3", "-N2", "--mpi=pmix"}};
}

// Slurm lets the survivors live, unless it is told otherwise. They end by themselves, and name the
// rank that has failed.
TEST_F(Slurm, EndsTheOtherRanksWhenOneFails) {
  for (const std::vector<std::string>& options : kinds_of_steps()) {
    for (const std::string kind : {"kill", "exit3", "abort"}) {
      SCOPED_TRACE(kind + " " + options.back());
      const Result result =
          run(srun(options, {"env", "HOME=/nonexistent", testing::test_path("fault_ranks"), kind,
                             "1", "3000"}));
      EXPECT_TRUE(result.was_in_time);
      EXPECT_NE(result.exit_code, 0);
      EXPECT_THAT(result.err, HasSubstr("harm at"));
      EXPECT_THAT(result.err, HasSubstr("rank 1"));
    }
  }
}

// A stopped rank does not end by itself.
TEST_F(Slurm, EndsAStoppedRankWithTheOptionToKill) {
  for (const std::vector<std::string>& options : kinds_of_steps()) {
    SCOPED_TRACE(options.back());
    std::vector<std::string> that_kill = options;
    that_kill.emplace_back("--kill-on-bad-exit=1");
    const Result result =
        run(srun(that_kill, {"env", "HOME=/nonexistent", "DEADLINE_SECONDS=2",
                             testing::test_path("fault_ranks"), "stop", "1", "3000"}));
    EXPECT_TRUE(result.was_in_time);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("harm at"));
    EXPECT_THAT(result.err, HasSubstr("rank 1"));
  }
}

TEST_F(Slurm, LeavesTasksAloneThatAreToBeAlone) {
  EXPECT_THAT(lines_of(run(srun({"-n2"}, {"env", "ROTA_WORLD=1", kAverage}))),
              ElementsAre("mean of ranks: 0", "mean of ranks: 0"));
}

// An epoch of the example ends with the same weights under rotarun and in each kind of step.
TEST_F(Slurm, TrainsTheModelThatRotarunTrains) {
  testing::TemporaryFolder images;
  testing::write_few_images(images, 3000, 1000);
  const std::vector<std::string> program = {testing::bin_path("mnist"), "--json", "--data",
                                            images.path().string()};
  // Returns what rank 0's last line says.
  const auto outcome_of = [](const Result& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::istringstream out(result.out);
    json last;
    for (std::string line; std::getline(out, line);) last = json::parse(line, nullptr, false);
    if (!last.contains("weights_hash")) return result.out;
    return last["weights_hash"].get<std::string>() + " over " +
           last["transport"].get<std::string>();
  };
  std::vector<std::string> own = {"-np", "3", "--oversubscribe"};
  own.insert(own.end(), program.begin(), program.end());
  const std::string expected = outcome_of(testing::run_rotarun(own));
  EXPECT_THAT(expected, HasSubstr(" over shm"));
  for (const std::vector<std::string>& options : kinds_of_steps()) {
    EXPECT_EQ(outcome_of(run(srun(options, program))), expected) << options.back();
  }
}

TEST_F(Slurm, LeavesAProgramAloneThatIsNoTask) {
  EXPECT_THAT(lines_of(run({"salloc", "-N2", "--ntasks-per-node=2", kAverage})),
              ElementsAre("mean of ranks: 0"));
  EXPECT_EQ(run_batch({"-N2", "--ntasks-per-node=2"}, kAverage), "mean of ranks: 0\n");
}

TEST_F(Slurm, MakesAProgramARankByTfConfig) {
  const auto script = [](std::size_t task_count) {
    return std::vector<std::string>{
        "sh", "-c",
        R"(export TF_CONFIG='{"cluster":{"worker":[")" +
            joined(testing::free_addresses(task_count), R"(",")") +
            R"("]},"task":{"type":"worker","index":'$SLURM_PROCID'}}'; exec )" + kAverage};
  };
  EXPECT_THAT(lines_of(run(srun({"-n4", "-N2"}, script(4)))), ElementsAre("mean of ranks: 1.5"));
  const Result fewer = run(srun({"-n3", "-N2"}, script(4)));
  EXPECT_NE(fewer.exit_code, 0);
  EXPECT_THAT(fewer.err,
              HasSubstr("Slurm step and TF_CONFIG contradict each other about the size"));
}

class SlurmByHand : public Slurm {
 protected:
  static Result run_ranks(const std::string& set_key) {
    return run(srun({"-n4", "-N2"}, {"sh", "-c",
                                     set_key + "exec " + kByHand + " $SLURM_PROCID " +
                                         joined(testing::free_addresses(4), " ")}));
  }
};

TEST_F(SlurmByHand, MakesTasksRanks) {
  EXPECT_THAT(lines_of(run_ranks("")), ElementsAre("4 ranks"));
}

TEST_F(SlurmByHand, MakesTasksRanksWhereAllHaveTheKey) {
  EXPECT_THAT(lines_of(run_ranks("export ROTA_KEY_FILE=" + make_key("key", 'k') + "; ")),
              ElementsAre("4 ranks"));
}

}  // namespace
}  // namespace rota
