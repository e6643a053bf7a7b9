// Tests what rotarun does on its own host if its environment declares a cluster.
#include <filesystem>
#include <fstream>

#include "launcher/launched.h"
#include "os/host.h"
#include "testing/key_text.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

class JobScope : public Launched {
 protected:
  static Result run_with(std::vector<std::string> environment, std::vector<std::string> arguments) {
    testing::Command command = rotarun(std::move(arguments));
    command.environment = std::move(environment);
    return run(std::move(command));
  }
};

const std::string kTfConfig =
    R"(TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":1}})";

// If other hosts are declared, rotarun never starts a world on this host alone, whatever number of
// ranks -np gives.
TEST_F(JobScope, StartsNothingWithoutAKeyWhereOtherHostsAreDeclared) {
  const std::vector<std::vector<std::string>> rows = {
      {kTfConfig},
      {"PET_NNODES=2", "PET_NODE_RANK=0"},
      {"RANK=0", "WORLD_SIZE=2"},
  };
  for (auto row : rows) {
    row.emplace_back("HOME=/nonexistent");
    for (const std::string np : {"1", "2"}) {
      const Result result = run_with(row, {"-np", np, "echo", "started"});
      EXPECT_EQ(result.exit_code, 77) << row.front();
      EXPECT_EQ(result.out, "");
      EXPECT_THAT(result.err, HasSubstr("several hosts need a shared key"));
    }
  }
}

TEST_F(JobScope, EndsWith78WhereThisHostIsNoneOfThose) {
  for (const std::string variable : {"ROTA_HOSTS=a:2,b:2", "SLURM_JOB_NODELIST=n[1-2]"}) {
    const Result result = run_with({variable}, {"--agent", "none", "echo", "started"});
    EXPECT_EQ(result.exit_code, 78) << variable;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err,
                HasSubstr("but neither this host's name nor one of its addresses is in the list"));
  }
}

TEST_F(JobScope, EndsWith78WhereItIsARankOfSomeoneWhoDoesNotSayEnough) {
  const Result result = run_with({"PMI_RANK=1", "PMI_SIZE=4"}, {"echo", "started"});
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("PMI says rank 1 of 4, but not where rank 0 is"));
  EXPECT_EQ(run_with({"PMI_RANK=1", "PMI_SIZE=4"}, {"-np", "2", "echo", "started"}).exit_code, 78);
  EXPECT_EQ(run_with({"PMI_RANK=0", "PMI_SIZE=1"}, {"-np", "2", "true"}).exit_code, 0);
}

TEST_F(JobScope, EndsWith78WhereTheCommandLineNamesOtherHosts) {
  EXPECT_EQ(run_rotarun({"-H", "a,b", "--agent", "none", "true"}).exit_code, 78);
  EXPECT_EQ(run_rotarun({"-H", "elsewhere", "--agent", "none", "true"}).exit_code, 78);
  std::ofstream(folder_ + "/hosts") << "a slots=2\nb slots=2\n";
  EXPECT_THAT(run_rotarun({"--hostfile", folder_ + "/hosts", "--agent", "none", "true"}).err,
              HasSubstr("hosts says 2 hosts (a, b)"));
  for (const std::string& path : {folder_ + "/none", folder_}) {
    const Result unreadable = run_rotarun({"--hostfile", path, "true"});
    EXPECT_EQ(unreadable.exit_code, 2);
    EXPECT_THAT(unreadable.err, HasSubstr("--hostfile " + path + ": the file cannot be read"));
  }
}

// The launcher pod of an MPIJob has this variable, so rotarun reads the file there. Processes of an
// MPI program, and ranks and evaluators of rotarun, inherit the variable, but must not read the
// file.
TEST_F(JobScope, ReadsTheHostfileThatMpirunWouldRead) {
  const std::string file = folder_ + "/hosts";
  std::ofstream(file) << "a slots=2\nb:1\n";
  for (const std::string variable :
       {"OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"}) {
    const Result shown = run_with({variable + "=" + file}, {"--show-ranks", "true"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("world 3 on 2 hosts · shm+tcp · " + variable + " " + file));
    EXPECT_EQ(run_with({variable + "=" + file}, {"--agent", "none", "true"}).exit_code, 78);
    const Result unreadable = run_with({variable + "=/none"}, {"true"});
    EXPECT_EQ(unreadable.exit_code, 78);
    EXPECT_THAT(unreadable.err, HasSubstr(variable + " is /none, but that file cannot be read"));
    EXPECT_EQ(run_with({variable + "=/none", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1"},
                       {"true"})
                  .exit_code,
              0);
    for (const std::string inner : {"ROTA_RENDEZVOUS_FD=9", "ROTA_ROLE=evaluator"}) {
      const Result nested = run_with({variable + "=" + file, inner}, {"-np", "1", "echo", "here"});
      EXPECT_EQ(nested.exit_code, 0) << inner << ": " << nested.err;
      EXPECT_EQ(nested.out, "here\n") << inner;
    }
    EXPECT_EQ(run_with({variable + "=/none"}, {"-H", "localhost", "true"}).exit_code, 0);
  }
}

// The file that a batch system has written for a job of several hosts.
TEST_F(JobScope, ReadsTheHostsThatABatchSystemHasReserved) {
  const std::string lines = folder_ + "/lines";
  std::ofstream(lines) << "a\r\na\r\nb\r\n";
  const std::string columns = folder_ + "/columns";
  std::ofstream(columns) << "a 2 all.q@a UNDEFINED\nb 1 all.q@b UNDEFINED\n";
  for (const auto& [variable, source] : std::vector<std::pair<std::string, std::string>>{
           {"PBS_NODEFILE=" + lines, "PBS allocation"},
           {"LSB_DJOB_HOSTFILE=" + lines, "LSF allocation"},
           {"PE_HOSTFILE=" + columns, "SGE allocation"}}) {
    const Result shown = run_with({variable}, {"--show-ranks", "true"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("world 3 on 2 hosts · shm+tcp · " + source));
    EXPECT_THAT(run_with({variable}, {"--explain"}).out,
                HasSubstr("decided by " + source + ": 2 hosts (a, b), rendezvous at a"));
    const Result unknown = run_with({variable}, {"--agent", "none", "echo", "started"});
    EXPECT_EQ(unknown.exit_code, 78) << unknown.err;
    EXPECT_EQ(unknown.out, "");
    EXPECT_EQ(run_with({variable}, {"-H", "elsewhere", "true"}).exit_code, 78);
    for (const std::vector<std::string>& alone : std::vector<std::vector<std::string>>{
             {variable, "ROTA_RENDEZVOUS_FD=9"}, {variable, "PMI_RANK=0", "PMI_SIZE=1"}}) {
      EXPECT_EQ(run_with(alone, {"-np", "1", "echo", "here"}).out, "here\n") << alone.back();
    }
    EXPECT_EQ(run_with({variable}, {"--this-host", "-np", "1", "echo", "here"}).out, "here\n");
  }
}

TEST_F(JobScope, IsThisHostAloneWhereABatchSystemHasReservedNoOther) {
  const std::string file = folder_ + "/hosts";
  for (std::size_t mention = 0; mention < 99; ++mention) {
    std::ofstream(file, std::ios::app) << os::host_name() << "\n";
  }
  const Result result = run_with({"PBS_NODEFILE=" + file}, {"--explain"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, run_with({}, {"--explain"}).out);
}

// A part of what is declared is never taken for all of it.
TEST_F(JobScope, EndsWith78WhereNoSourceReadsTheOtherHosts) {
  const std::vector<std::string> heterogeneous = {"SLURM_HET_SIZE=2",
                                                  "SLURM_JOB_ID=5",
                                                  "SLURM_JOB_NODELIST=n1",
                                                  "SLURM_JOB_NUM_NODES=1",
                                                  "SLURM_TASKS_PER_NODE=2",
                                                  "SLURM_JOB_NODELIST_HET_GROUP_0=n1",
                                                  "SLURM_JOB_NODELIST_HET_GROUP_1=n[2-3]",
                                                  "SLURMD_NODENAME=n1"};
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {heterogeneous, "srun --het-group=0-1 --ntasks-per-node=1 rotarun"},
      {{"SLURM_PACK_SIZE=2", "SLURM_JOB_NODELIST=n1"}, "srun --pack-group=0-1"},
      {{"AWS_BATCH_JOB_NUM_NODES=2"}, "PET_NNODES=$AWS_BATCH_JOB_NUM_NODES"},
      {{R"(SM_HOSTS=["algo-1","algo-2"])"}, "ROTA_HOST=$SM_CURRENT_HOST"},
      {{R"(CLUSTER_SPEC={"cluster":{"workerpool0":["a:2222","b:2222"]}})"}, "ROTA_HOSTS=a,b"},
      {{"VC_WORKER_HOSTS=w-0.w,w-1.w"}, "ROTA_HOSTS=$VC_WORKER_HOSTS"},
      {{"FLUX_JOB_NNODES=2"}, "ROTA_HOSTS=$(flux hostlist -ed, local)"},
      {{"AZ_BATCH_HOST_LIST=10.0.0.4,10.0.0.5"}, "--host $AZ_BATCH_HOST_LIST"},
      {{"SLURM_NNODES=2"}, "pass on SLURM_JOB_NODELIST"},
      {{"PBS_NUM_NODES=2"}, "PBS_NUM_NODES is 2, so the job has other hosts"},
      {{"NHOSTS=2", "SGE_O_HOST=login"}, "NHOSTS is 2, so the job has other hosts"},
      {{"PBS_NODEFILE=/none"}, "PBS_NODEFILE is '/none', but that file cannot be read"},
      {{"PE_HOSTFILE=" + folder_}, "but that file cannot be read"},
  };
  for (const auto& [variables, words] : rows) {
    const Result preflight = run_with(variables, {"--preflight", "true"});
    EXPECT_EQ(preflight.exit_code, 20) << variables.front() << ": " << preflight.err;
    EXPECT_THAT(preflight.out, HasSubstr("preflight: unusable"));
    EXPECT_THAT(preflight.out + preflight.err, HasSubstr(words));
    for (const char* option : {"-v", "--explain", "--show-ranks"}) {
      const Result result = run_with(variables, {option, "sh", "-c", "echo started"});
      EXPECT_EQ(result.exit_code, 78) << variables.front() << " " << option << ": " << result.err;
      EXPECT_THAT(result.out, Not(HasSubstr("started")));
      EXPECT_THAT(result.out + result.err, HasSubstr(words)) << option;
    }
    EXPECT_EQ(run_with(variables, {"--this-host", "-np", "1", "echo", "here"}).out, "here\n");
    std::vector<std::string> declared = variables;
    declared.emplace_back("ROTA_HOSTS=1");
    EXPECT_EQ(run_with(declared, {"-np", "1", "echo", "here"}).out, "here\n") << declared.front();
  }
}

TEST_F(JobScope, GivesEachDeviceARankWhereToldSo) {
  const std::vector<std::string> trainer = {"PET_NNODES=1", "PET_NODE_RANK=0",
                                            "PET_NPROC_PER_NODE=gpu"};
  auto with = trainer;
  with.emplace_back("CUDA_VISIBLE_DEVICES=0,1,2");
  EXPECT_EQ(run_with(with, {"echo", "rank"}).out, "rank\nrank\nrank\n");
  auto without = trainer;
  without.emplace_back("CUDA_VISIBLE_DEVICES=");
  const Result result = run_with(without, {"echo", "rank"});
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("PET_NPROC_PER_NODE is gpu"));
}

TEST_F(JobScope, HasOneRankForTheOneTaskOfAList) {
  const std::string alone =
      R"(TF_CONFIG={"cluster":{"worker":["localhost:1"]},"task":{"type":"worker","index":0}})";
  EXPECT_EQ(run_with({alone}, {"echo", "rank"}).out, "rank\n");
  EXPECT_EQ(run_with({alone, "ROTA_SLOTS=2"}, {"echo", "rank"}).out, "rank\nrank\n");
}

TEST_F(JobScope, NamesBothSidesOfAWorldThatHostsCannotMake) {
  const Result result = run_with({kTfConfig, "ROTA_WORLD=3"}, {"true"});
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_THAT(result.err, HasSubstr("ROTA_WORLD is 3, and TF_CONFIG has 2 hosts"));
}

TEST_F(JobScope, RefusesToGoWithoutAKeyBeyondLoopback) {
  const Result result = run_with({kTfConfig}, {"--insecure", "echo", "started"});
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_THAT(result.err, HasSubstr("--insecure is only for hosts on loopback"));
}

TEST_F(JobScope, RefusesAKeyThatOthersMayRead) {
  const std::string file = folder_ + "/key";
  std::ofstream(file) << testing::key_text('k');
  std::filesystem::permissions(file, static_cast<std::filesystem::perms>(0644));
  const Result result = run_with({kTfConfig}, {"--key-file", file, "echo", "started"});
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_THAT(result.err, HasSubstr(file));
}

TEST_F(JobScope, IsThisHostAloneWhereToldSo) {
  for (const std::string& variable : {kTfConfig, std::string("TF_CONFIG=")}) {
    const Result result = run_with({variable}, {"--this-host", "-np", "2", "echo", "rank"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "rank\nrank\n");
  }
}

TEST_F(JobScope, EndsWith78WhereADeclarationIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> rows = {
      {{"TF_CONFIG="}, "TF_CONFIG is empty"},
      {{kTfConfig, "RANK=1", "WORLD_SIZE=3"}, "TF_CONFIG and PyTorchJob contradict each other"},
      {{"JOB_COMPLETION_INDEX=1"}, "nothing says how many hosts there are: set ROTA_HOSTS"},
      {{"ROTA_WORLD=3"}, "--np is 2, but ROTA_WORLD is 3"},
  };
  for (const auto& [variables, words] : rows) {
    const Result result = run_with(variables, {"-np", "2", "echo", "started"});
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_THAT(result.err, HasSubstr("rotarun: try rotarun --explain\n"));
  }
}

// When this host has all ranks, they share memory, even when other hosts without ranks are
// declared.
TEST_F(JobScope, BesideAParameterServerKeepsItsRanksTogether) {
  const auto addresses = testing::free_addresses(2);
  const std::string tf_config = R"(TF_CONFIG={"cluster":{"worker":[")" + addresses[0] +
                                R"("],"ps":[")" + addresses[1] +
                                R"("]},"task":{"type":"worker","index":0}})";
  for (const std::string transport : {"auto", "shm", "tcp"}) {
    const Result result =
        run_with({tf_config, "ROTA_SLOTS=2"},
                 {"--insecure", "--transport", transport, test_path("member"), "check"});
    EXPECT_EQ(result.exit_code, 0) << transport << ": " << result.err;
  }
  EXPECT_EQ(run_with({tf_config, "HOME=/nonexistent"}, {"true"}).exit_code, 77);
}

TEST_F(JobScope, GivesThisHostTheRanksThatAreDeclaredForIt) {
  EXPECT_EQ(run_with({"ROTA_SLOTS=3"}, {"echo", "rank"}).out, "rank\nrank\nrank\n");
  EXPECT_EQ(run_with({"ROTA_WORLD=3"}, {"echo", "rank"}).out, "rank\nrank\nrank\n");
  EXPECT_EQ(run_with({"ROTA_SLOTS=3"}, {"-np", "1", "echo", "rank"}).out, "rank\n");
  EXPECT_EQ(run_rotarun({"-H", "localhost:3", "echo", "rank"}).out, "rank\nrank\nrank\n");
  EXPECT_THAT(run_with({"ROTA_SLOTS=3"}, {"-v", "true"}).err,
              HasSubstr("3 ranks as this host by ROTA_SLOTS says"));
}

TEST_F(JobScope, OfARankIsItsOwnBusiness) {
  const Result result = run_with(
      {}, {"-np", "1", "-x", kTfConfig, testing::rotarun_path(), "-np", "2", "echo", "rank"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "rank\nrank\n");
}

TEST_F(JobScope, IsExplained) {
  Result result = run_with({}, {"-np", "2", "--explain", "echo", "started"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("decided by this host: host 0 (" + os::host_name() + ") of 1"));
  EXPECT_THAT(result.out, HasSubstr("world 2 on 1 host · shm · rotarun -np 2"));
  EXPECT_THAT(result.out, Not(HasSubstr("started")));

  result = run_with({kTfConfig, "RANK=1", "WORLD_SIZE=2", "ROTA_WORLD=4"}, {"--explain"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("decided by TF_CONFIG: host 1 (b:1) of 2"));
  EXPECT_THAT(result.out, HasSubstr("  PyTorchJob: host 1 of 2\n"));
  EXPECT_THAT(result.out, HasSubstr("world 4 on 2 hosts · shm+tcp · TF_CONFIG"));

  result = run_with({kTfConfig, "ROTA_WORLD=4"}, {"--transport", "tcp", "--explain"});
  EXPECT_THAT(result.out, HasSubstr("world 4 on 2 hosts · tcp · TF_CONFIG"));

  result = run_with({"LOCAL_RANK=0", "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=a"}, {"--explain"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("torchrun does not name every host"));
  EXPECT_THAT(result.out, HasSubstr("starts rank 1 only, and joins the other ranks at a\n"));
}

TEST_F(JobScope, IsExplainedWhereNobodyCanDecide) {
  Result result = run_with({kTfConfig, "RANK=1", "WORLD_SIZE=3"}, {"--explain"});
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_THAT(result.out, HasSubstr("undecided: TF_CONFIG and PyTorchJob contradict each other"));
  result = run_with({"ROTA_WORLD=3"}, {"-np", "2", "--explain"});
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_THAT(result.out, HasSubstr("--np is 2, but ROTA_WORLD is 3"));
}

}  // namespace
}  // namespace rota::launcher
