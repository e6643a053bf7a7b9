// Tests declarations of several hosts that no source reads: they are refused unless a source, or a
// person, says more about the hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/one_rank.h"
#include "specification/given.h"

namespace rota::cluster {
namespace {

using ::testing::HasSubstr;

struct Unread {
  std::vector<std::string> variables;  // The one that counts the hosts is the first.
  std::vector<const char*> words;
  const char* sign_of_a_rank = "";  // What a program without rotarun says; empty: it is alone.
};

const std::string kSageMaker = R"(SM_HOSTS=["algo-1","algo-2"])";
const std::string kVertex =
    R"(CLUSTER_SPEC={"cluster":{"workerpool0":["a-0:2222"],"workerpool1":["b-0:2222","b-1:2222"]},)"
    R"("environment":"cloud","task":{"type":"workerpool1","index":0}})";

const Unread kUnreadHosts[] = {
    {{"SLURM_HET_SIZE=2", "SLURM_JOB_ID=5", "SLURM_JOB_NODELIST=n1", "SLURM_JOB_NUM_NODES=1",
      "SLURM_TASKS_PER_NODE=2", "SLURM_JOB_NODELIST_HET_GROUP_0=n1",
      "SLURM_JOB_NODELIST_HET_GROUP_1=n[2-3]", "SLURMD_NODENAME=n1"},
     {"SLURM_HET_SIZE is 2, so the job has other hosts",
      "srun --het-group=0-1 --ntasks-per-node=1 rotarun …", "give --this-host"}},
    {{"SLURM_HET_SIZE=3", "SLURM_PACK_SIZE=3", "SLURM_JOB_ID=5",
      "SLURM_JOB_NODELIST_HET_GROUP_0=n1"},  // A shell of salloc.
     {"SLURM_HET_SIZE is 3", "srun --het-group=0-2 "}},
    {{"SLURM_HET_SIZE=2", "SLURM_STEP_ID=4294967290", "SLURM_JOB_NODELIST=n1"},
     {"srun --het-group=0-1 "}},
    {{"SLURM_PACK_SIZE=2", "SLURM_JOB_NODELIST=n1"},
     {"SLURM_PACK_SIZE is 2", "srun --pack-group=0-1 --ntasks-per-node=1 rotarun …"}},
    {{"AWS_BATCH_JOB_NUM_NODES=2", "AWS_BATCH_JOB_NODE_INDEX=1"},
     {"AWS_BATCH_JOB_NUM_NODES is 2, so the job has other hosts",
      "PET_NODE_RANK=$AWS_BATCH_JOB_NODE_INDEX", "give --this-host"},
     "AWS_BATCH_JOB_NUM_NODES is 2"},
    {{kSageMaker, "SM_CURRENT_HOST=algo-1"},
     {R"(SM_HOSTS is '["algo-1","algo-2"]')", "ROTA_HOST=$SM_CURRENT_HOST"},
     R"(SM_HOSTS is '["algo-1","algo-2"]')"},
    {{kVertex},
     {"CLUSTER_SPEC is '{\"cluster\"", "ROTA_HOSTS=a,b"},
     "CLUSTER_SPEC is '{\"cluster\""},
    {{"LSB_MCPU_HOSTS=n1 2 n2 1"}, {"LSB_MCPU_HOSTS is 'n1 2 n2 1'", "--host"}},
    {{"LSB_HOSTS=n1 n1 n2"}, {"LSB_HOSTS is 'n1 n1 n2'", "--host"}},
    {{"VC_WORKER_HOSTS=j-worker-0.j,j-worker-1.j", "VC_WORKER_NUM=2", "VC_TASK_INDEX=0"},
     {"VC_WORKER_HOSTS is 'j-worker-0.j,j-worker-1.j'", "ROTA_HOSTS=$VC_WORKER_HOSTS"},
     "VC_WORKER_HOSTS is 'j-worker-0.j,j-worker-1.j'"},
    {{"VC_WORKER_HOSTS=j-worker-0.j", "VC_MASTER_HOSTS=j-master-0.j", "VC_TASK_INDEX=0"},
     {"VC_MASTER_HOSTS is 'j-master-0.j' and VC_WORKER_HOSTS is 'j-worker-0.j', so the job has",
      "ROTA_HOSTS=$VC_MASTER_HOSTS,$VC_WORKER_HOSTS"},
     "VC_MASTER_HOSTS is 'j-master-0.j' and VC_WORKER_HOSTS is"},
    {{"LWS_GROUP_SIZE=2", "LWS_WORKER_INDEX=1", "LWS_LEADER_ADDRESS=s-0.s.ns"},
     {"LWS_GROUP_SIZE is 2, so the job has other hosts", "PET_NODE_RANK=$LWS_WORKER_INDEX"},
     "LWS_GROUP_SIZE is 2"},
    {{"SKYPILOT_NUM_NODES=2", "SKYPILOT_NODE_IPS=10.0.0.1\n10.0.0.2", "SKYPILOT_NODE_RANK=0"},
     {"SKYPILOT_NUM_NODES is 2", "ROTA_HOSTS=$(echo \"$SKYPILOT_NODE_IPS\" | paste -sd,)"},
     "SKYPILOT_NUM_NODES is 2"},
    {{"SKYPILOT_NODE_IPS=10.0.0.1\n10.0.0.2\n", "SKYPILOT_NODE_RANK=0"},
     {"SKYPILOT_NODE_IPS is '10.0.0.1?10.0.0.2?'"},
     "SKYPILOT_NODE_IPS is"},
    {{"FLUX_JOB_NNODES=2", "FLUX_JOB_SIZE=2", "FLUX_TASK_RANK=1"},  // With -o pmi=off.
     {"FLUX_JOB_NNODES is 2", "ROTA_HOSTS=$(flux hostlist -ed, local)"},
     "FLUX_JOB_NNODES is 2"},
    {{"AZ_BATCH_HOST_LIST=10.0.0.4,10.0.0.5", "AZ_BATCH_IS_CURRENT_NODE_MASTER=true"},
     {"AZ_BATCH_HOST_LIST is '10.0.0.4,10.0.0.5'", "--host $AZ_BATCH_HOST_LIST"}},
    {{"SLURM_JOB_NUM_NODES=2", "SLURM_NNODES=2", "SLURM_JOB_ID=5"},
     {"SLURM_JOB_NUM_NODES is 2", "pass on SLURM_JOB_NODELIST", "--host"}},
    {{"SLURM_NNODES=2"}, {"SLURM_NNODES is 2", "pass on SLURM_JOB_NODELIST"}},
    {{"PBS_NUM_NODES=2", "PBS_NUM_PPN=1", "PBS_NP=2"}, {"PBS_NUM_NODES is 2", "--host"}},
    {{"NHOSTS=2", "NSLOTS=4", "SGE_O_HOST=login"}, {"NHOSTS is 2", "--host"}},
};

TEST(UnreadHosts, AreRefusedWhereNothingElseSaysAnything) {
  for (const Unread& row : kUnreadHosts) {
    const std::string refusal = refusal_of(given_of(row.variables, "n1"));
    for (const char* words : row.words) EXPECT_THAT(refusal, HasSubstr(words));
    EXPECT_EQ(explain(given_of(row.variables, "n1")), "undecided: " + refusal + "\n");
  }
}

TEST(UnreadHosts, PassWhereHostsAreDeclared) {
  for (const Unread& row : kUnreadHosts) {
    const std::string& name = row.variables.front();
    const auto read_with = [&](const std::string& variable) {
      std::vector<std::string> variables = row.variables;
      variables.push_back(variable);
      return refusal_of(given_of(variables, "n1"));
    };
    EXPECT_EQ(read_with("ROTA_HOSTS=n1,n2"), "accepted: host 0 (n1) of 2, rendezvous at n1")
        << name;
    EXPECT_THAT(read_with("ROTA_HOSTS=1"), HasSubstr("accepted: host 0 (n1) of 1")) << name;
    EXPECT_THAT(read_with("ROTA_RENDEZVOUS_FD=3"), HasSubstr("accepted: host 0 (n1) of 1")) << name;
    EXPECT_THAT(read_with("ROTA_HOSTS=2"), HasSubstr("so the job has other hosts")) << name;
    EXPECT_THAT(read_with("ROTA_WORLD=2"), HasSubstr("so the job has other hosts")) << name;
    Given named = given_of(row.variables, "n1");
    named.host_list = "n1:2,n2";
    EXPECT_EQ(refusal_of(named), "accepted: host 0 (n1) of 2, rendezvous at n1") << name;
    std::vector<std::string> variables = row.variables;
    variables.insert(variables.end(), {"PMI_RANK=1", "PMI_SIZE=4"});
    EXPECT_EQ(refusal_of(given_of(variables)), "accepted: rank 1 of 4") << name;
  }
}

TEST(UnreadHosts, AreNoneWhereOneHostIsDeclared) {
  for (const std::string variable : {"SLURM_HET_SIZE=1",
                                     "SLURM_PACK_SIZE=1",
                                     "AWS_BATCH_JOB_NUM_NODES=1",
                                     R"(SM_HOSTS=["algo-1"])",
                                     R"(CLUSTER_SPEC={"cluster":{"workerpool0":["a-0:2222"]}})",
                                     "CLUSTER_SPEC=n1-standard-4",
                                     R"(CLUSTER_SPEC={"machines":["a","b"]})",
                                     "LSB_HOSTS=n1 n1",
                                     "LSB_MCPU_HOSTS=n1 2",
                                     "VC_WORKER_HOSTS=j-worker-0.j",
                                     "VC_WORKER_HOSTS=",
                                     "VC_HOSTS=a,b",
                                     "LWS_GROUP_SIZE=1",
                                     "SKYPILOT_NUM_NODES=1",
                                     "SKYPILOT_NODE_IPS=10.0.0.1\n",
                                     "FLUX_JOB_NNODES=1",
                                     "AZ_BATCH_HOST_LIST=10.0.0.4",
                                     "SLURM_JOB_NUM_NODES=1",
                                     "SLURM_NNODES=1",
                                     "PBS_NUM_NODES=1",
                                     "NHOSTS=1"}) {
    EXPECT_EQ(read(given_of({variable})).chosen.source, kThisHost) << variable;
    EXPECT_EQ(sign_of_several(given_of({variable}).environment), "") << variable;
  }
}

// The pods of these systems have names as those of a StatefulSet have.
TEST(UnreadHosts, CountBeforeTheNameOfAPod) {
  const auto refusal = [](std::vector<std::string> variables, const std::string& pod) {
    variables.emplace_back("KUBERNETES_SERVICE_HOST=x");
    return refusal_of(given_of(variables, pod));
  };
  const std::string volcano = "VC_WORKER_HOSTS=j-worker-0.j,j-worker-1.j";
  EXPECT_THAT(refusal({volcano}, "j-worker-1"), HasSubstr("ROTA_HOSTS=$VC_WORKER_HOSTS"));
  EXPECT_EQ(refusal({volcano, "ROTA_HOSTS=2"}, "j-worker-1"),
            "accepted: host 1 (j-worker-1) of 2, rendezvous at j-worker-0");
  const std::string leader = "PET_MASTER_ADDR=s-0.s.ns";
  EXPECT_THAT(refusal({"LWS_GROUP_SIZE=2"}, "s-0-1"), HasSubstr("$LWS_LEADER_ADDRESS"));
  EXPECT_THAT(refusal({"LWS_GROUP_SIZE=2", "ROTA_HOSTS=2"}, "s-0"), HasSubstr("PET_NNODES="));
  EXPECT_EQ(refusal({"LWS_GROUP_SIZE=2", "PET_NNODES=2", "PET_NODE_RANK=1", leader}, "s-0-1"),
            "accepted: host 1 (s-0-1) of 2, rendezvous at s-0.s.ns");
}

// NHOSTS counts the hosts of a job of SGE. Elsewhere, it is a variable of another program.
TEST(UnreadHosts, AreNoneWhereANameMeansSomethingElse) {
  EXPECT_EQ(read(given_of({"NHOSTS=2"})).chosen.source, kThisHost);
  EXPECT_EQ(read(given_of({"NHOSTS=all"})).chosen.source, kThisHost);
}

// With -l nodes=2, Torque may reserve two cores of one host.
TEST(UnreadHosts, AreThoseOfAFileThatCanBeRead) {
  Given given = given_of({"PBS_NUM_NODES=2"}, "n1");
  given.node_files = {{.path = "/aux/5", .text = "n1\nn1\n", .given_by = "PBS_NODEFILE"}};
  EXPECT_EQ(read(given).chosen.source, kThisHost);
  given.node_files.front().text = "n1\nn2\n";
  EXPECT_EQ(refusal_of(given), "accepted: host 0 (n1) of 2, rendezvous at n1");
  given.node_files.front() = {.path = "/aux/5", .text = "n1 1\n", .given_by = "PE_HOSTFILE"};
  EXPECT_THAT(refusal_of(given), HasSubstr("PBS_NUM_NODES is 2, so the job has other hosts"));
}

TEST(UnreadHosts, AreRefusedWhereTheyMakeNoSense) {
  for (const auto& [variable, words] : std::vector<std::pair<std::string, const char*>>{
           {"SLURM_HET_SIZE=x", "SLURM_HET_SIZE is 'x'"},
           {"AWS_BATCH_JOB_NUM_NODES=", "AWS_BATCH_JOB_NUM_NODES is ''"},
           {"SLURM_NNODES=2-4", "SLURM_NNODES is '2-4': a whole number"},
           {"PBS_NUM_NODES=two", "PBS_NUM_NODES is 'two': a whole number"},
           {"SM_HOSTS=algo-1,algo-2", "SM_HOSTS is 'algo-1,algo-2': a list in JSON is needed"},
           {R"(CLUSTER_SPEC={"cluster":)", "CLUSTER_SPEC is '{\"cluster\":', which is not JSON"},
       }) {
    EXPECT_THAT(refusal_of(given_of({variable})), HasSubstr(words));
  }
}

// Some systems start the program on every host. A batch system starts it on one host.
TEST(UnreadHosts, MakeAProgramOneOfSeveralWhereItIsStartedOnEach) {
  for (const Unread& row : kUnreadHosts) {
    const std::string sign = sign_of_several(given_of(row.variables).environment);
    EXPECT_EQ(sign.empty(), row.sign_of_a_rank[0] == '\0') << sign;
    EXPECT_THAT(sign, HasSubstr(row.sign_of_a_rank));
    std::vector<std::string> declared = row.variables;
    declared.emplace_back("ROTA_HOSTS=1");
    EXPECT_EQ(sign_of_several(given_of(declared).environment), "");
  }
  const auto sign_in = [](const std::vector<std::string>& variables) {
    return sign_of_several(given_of(variables).environment);
  };
  EXPECT_EQ(sign_in({"WORLD_SIZE=4", "ROTA_HOSTS=1"}), "WORLD_SIZE is 4");  // All on one host.
  // In a pod whose command lacks rotarun.
  EXPECT_EQ(sign_in({"ROTA_HOSTS=4", "JOB_COMPLETION_INDEX=1"}), "ROTA_HOSTS is 4");
  EXPECT_EQ(sign_in({"ROTA_HOSTS=a:2,b:2"}), "ROTA_HOSTS is 'a:2,b:2'");
  EXPECT_EQ(sign_in({"PET_NNODES=2", "PET_NODE_RANK=0"}), "PET_NNODES is 2");
  EXPECT_EQ(sign_in({"PET_NNODES=1:4"}), "PET_NNODES is '1:4'");
  EXPECT_EQ(sign_in({"ROTA_HOSTS=a:2", "PET_NNODES=1"}), "");
  EXPECT_EQ(sign_in({"SLURM_NNODES=2-4"}), "");  // An option of srun, in a shell.
}

// The file of a batch system may be on another host, or outside of a container.
TEST(UnreadHosts, MayBeInAFileThatCannotBeRead) {
  for (const std::string_view variable : kNodeFileVariables) {
    Given given = given_of({}, "n1");
    given.node_files = {{.path = "/aux/5", .text = "", .given_by = std::string(variable)}};
    given.node_files.front().is_readable = false;
    EXPECT_THAT(refusal_of(given),
                HasSubstr(std::string(variable) + " is '/aux/5', but that file cannot be read"));
    for (const char* declared : {"ROTA_HOSTS=1", "ROTA_HOSTS=n1", "SLURM_JOB_NODELIST=n1"}) {
      given.environment = given_of({declared}).environment;
      EXPECT_THAT(refusal_of(given), HasSubstr("accepted: host 0 (n1) of 1")) << declared;
    }
  }
}

}  // namespace
}  // namespace rota::cluster
