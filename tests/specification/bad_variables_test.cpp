// Tests invalid variables, and variables that contradict each other. Each refusal names the
// variable and its value. A contradiction names both sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "specification/given.h"

namespace rota::cluster {
namespace {

using ::testing::HasSubstr;

struct Bad {
  std::vector<std::string> variables;
  std::vector<const char*> words;
  const char* host_name = kPlainHost;
};

const Bad kDeclared[] = {
    {{"ROTA_HOSTS="}, {"ROTA_HOSTS is ''"}},
    {{"ROTA_HOSTS=0"}, {"ROTA_HOSTS is '0'", "from 1 to 4096"}},
    {{"ROTA_HOSTS=-1"}, {"ROTA_HOSTS is '-1'"}},
    {{"ROTA_HOSTS=4097"}, {"ROTA_HOSTS is '4097'"}},
    {{"ROTA_HOSTS=99999999999999999999999999"}, {"ROTA_HOSTS is '9999999"}},
    {{"ROTA_HOSTS=3"}, {"ROTA_HOSTS is 3", "'alpha'", "ROTA_HOSTS=a:2,b:2"}},
    {{"ROTA_HOSTS=a:0,b"}, {"slots of a in ROTA_HOSTS is '0'"}},
    {{"ROTA_HOSTS=a:x"}, {"slots of a in ROTA_HOSTS is 'x'"}},
    {{"ROTA_HOSTS=a:2:3"}, {"ROTA_HOSTS has 'a:2:3'"}},
    {{"ROTA_HOSTS=a,,b"}, {"ROTA_HOSTS has ''"}},
    {{"ROTA_HOSTS=a,b,"}, {"ROTA_HOSTS has ''"}},
    {{"ROTA_HOSTS=a b"}, {"ROTA_HOSTS has 'a b'"}},
    {{"ROTA_HOSTS=a:4096,a"}, {"'a' has 4097 slots"}},
    {{"ROTA_HOSTS=localhost,b"}, {"ROTA_HOSTS", "'localhost'", "means itself"}},
    {{"ROTA_HOSTS=0.0.0.0,b"}, {"ROTA_HOSTS", "'0.0.0.0'", "means itself"}},
    {{"ROTA_HOSTS=b,[::]:2"}, {"ROTA_HOSTS", "'::'", "means itself"}},
    {{"ROTA_HOSTS=b,[::ffff:127.0.0.1]"}, {"'::ffff:127.0.0.1'", "means itself"}},
    {{"ROTA_HOSTS=b,[::ffff:0:0]"}, {"'::ffff:0:0'", "means itself"}},
    {{"ROTA_HOSTS=[0:0:0:0:0:0:0:1],b"}, {"'0:0:0:0:0:0:0:1'", "means itself"}},
    {{"ROTA_HOSTS=127.1,b"}, {"'127.1'", "means itself"}},
    {{"ROTA_HOSTS=tcp://10.0.0.1:80"}, {"ROTA_HOSTS has 'tcp://10.0.0.1:80'"}},
    {{"ROTA_WORLD=0"}, {"ROTA_WORLD is '0'"}},
    {{"ROTA_WORLD=four"}, {"ROTA_WORLD is 'four'"}},
    {{"ROTA_SLOTS=0"}, {"ROTA_SLOTS is '0'"}},
    {{"ROTA_SLOTS=1.5"}, {"ROTA_SLOTS is '1.5'"}},
    {{"ROTA_SLOTS= 2"}, {"ROTA_SLOTS is ' 2'"}},
    {{"ROTA_ORDINAL_START=-1"}, {"ROTA_ORDINAL_START is '-1'"}},
    {{"ROTA_SERVICE="}, {"ROTA_SERVICE has ''"}},
    {{"ROTA_SERVICE=a:80"}, {"ROTA_SERVICE is 'a:80'"}},
    {{"ROTA_SLOTS=2", "ROTA_WORLD=3"},
     {"ROTA_WORLD is 3", "a world of 3 ranks, but 2 declared slots in total"}},
    {{"ROTA_WORLD=3", "RANK=0", "WORLD_SIZE=2"},
     {"ROTA_WORLD is 3, and PyTorchJob has 2 hosts: a world of 3 ranks, with 0 declared slots, "
      "leaves 3 ranks, which 2 hosts without declared slots cannot share equally: declare the "
      "slots of these hosts"}},
};

const Bad kBadProcesses[] = {
    {{"LOCAL_RANK=0"},
     {"LOCAL_RANK is set, but RANK and WORLD_SIZE are not, and torchrun sets all three: set all "
      "three, or unset LOCAL_RANK"}},
    {{"LOCAL_RANK=0", "RANK=0"}, {"WORLD_SIZE is not set, but RANK is set", "torchrun"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=2"}, {"RANK is not set", "torchrun"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=2", "RANK=2"}, {"RANK is 2", "WORLD_SIZE is 2"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=0", "RANK=0"}, {"WORLD_SIZE is '0'"}},
    {{"LOCAL_RANK=-1", "WORLD_SIZE=2", "RANK=0"}, {"LOCAL_RANK is '-1'"}},
    {{"LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2", "WORLD_SIZE=4", "RANK=0"},
     {"LOCAL_RANK is 2", "LOCAL_WORLD_SIZE is 2"}},
    {{"LOCAL_RANK=0", "LOCAL_WORLD_SIZE=8", "WORLD_SIZE=4", "RANK=0"},
     {"LOCAL_WORLD_SIZE is 8", "WORLD_SIZE is 4"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=2", "RANK=0", "GROUP_WORLD_SIZE=3"}, {"GROUP_WORLD_SIZE is '3'"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=2", "RANK=0", "MASTER_PORT=0"}, {"MASTER_PORT is '0'"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=2", "RANK=0", "MASTER_ADDR=a:1"}, {"MASTER_ADDR is 'a:1'"}},
    {{"LOCAL_RANK=0", "WORLD_SIZE=2", "RANK=0", "MASTER_ADDR="}, {"MASTER_ADDR has ''"}},
    {{"OMPI_COMM_WORLD_RANK=1"}, {"OMPI_COMM_WORLD_SIZE is not set", "Open MPI"}},
    {{"OMPI_COMM_WORLD_SIZE=1"}, {"OMPI_COMM_WORLD_RANK is not set"}},
    {{"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4"}, {"OMPI_COMM_WORLD_RANK is 4"}},
    {{"OMPI_COMM_WORLD_RANK=x", "OMPI_COMM_WORLD_SIZE=4"}, {"OMPI_COMM_WORLD_RANK is 'x'"}},
    {{"PMI_RANK=0"}, {"PMI_SIZE is not set"}},
    {{"PMI_RANK=1", "PMI_SIZE=1"}, {"PMI_RANK is 1", "PMI_SIZE is 1"}},
    {{"PMI_RANK=1", "PMI_SIZE=999999999"}, {"PMI_SIZE is '999999999'"}},
    {{"PMIX_RANK=0"}, {"PMIX_RANK is set, but PMIX_NAMESPACE is not"}},
    {{"PMIX_RANK=4294967294", "PMIX_NAMESPACE=x"}, {"PMIX_RANK is '4294967294'"}},
    {{"SLURM_STEP_ID=x"}, {"SLURM_STEP_ID is 'x'"}},
    {{"SLURM_STEP_ID=0"}, {"SLURM_NTASKS is not set"}},
    {{"SLURM_STEP_ID=0", "SLURM_NTASKS=2"}, {"SLURM_PROCID is not set"}},
    {{"SLURM_STEP_ID=0", "SLURM_NTASKS=2", "SLURM_PROCID=2"},
     {"SLURM_PROCID is 2", "SLURM_NTASKS is 2"}},
    {{"SLURM_STEP_ID=0", "SLURM_NTASKS=2", "SLURM_PROCID=1", "SLURM_NNODES=1", "SLURM_NODEID=1"},
     {"SLURM_NODEID is 1"}},
    {{"SLURM_STEP_ID=0", "SLURM_NTASKS=3", "SLURM_PROCID=1", "SLURM_NNODES=2",
      "SLURM_TASKS_PER_NODE=2(x2)"},
     {"SLURM_NTASKS is 3", "4 tasks in total"}},
};

const Bad kSlurmLists[] = {
    {{"SLURM_JOB_NODELIST="}, {"SLURM_JOB_NODELIST has ''"}},
    {{"SLURM_JOB_NODELIST=n[1-3"}, {"SLURM_JOB_NODELIST is 'n[1-3'", "brackets do not match"}},
    {{"SLURM_JOB_NODELIST=n1-3]"}, {"brackets do not match"}},
    {{"SLURM_JOB_NODELIST=n[1-[2]]"}, {"brackets do not match"}},
    {{"SLURM_JOB_NODELIST=n[]"}, {"a number in SLURM_JOB_NODELIST is ''"}},
    {{"SLURM_JOB_NODELIST=n[3-1]"}, {"the range '3-1'", "does not go up"}},
    {{"SLURM_JOB_NODELIST=n[a-b]"}, {"is 'a'"}},
    {{"SLURM_JOB_NODELIST=n[1-]"}, {"a number in SLURM_JOB_NODELIST is ''"}},
    {{"SLURM_JOB_NODELIST=n[1-999999999]"}, {"'1-999999999'", "more than 4096"}},
    {{"SLURM_JOB_NODELIST=r[1-999]n[1-999]"}, {"more than 4096"}},
    {{"SLURM_JOB_NODELIST=n[1-2],n2"}, {"'n2' twice"}},
    {{"SLURM_JOB_NODELIST=n1,,n2"}, {"SLURM_JOB_NODELIST has ''"}},
    {{"SLURM_JOB_NODELIST=n1:2"}, {"a node's name has no colon"}},
    {{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_JOB_NUM_NODES=3"},
     {"SLURM_JOB_NUM_NODES is 3", "'n[1-2]', which names 2"}},
    {{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2(x3)"},
     {"SLURM_TASKS_PER_NODE is '2(x3)', for 3 nodes, but the number of nodes is 2"}},
    {{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=0"}, {"SLURM_TASKS_PER_NODE is '0'"}},
    {{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2(x"}, {"brackets do not match"}},
    {{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2(x99999999)"}, {"is '99999999'"}},
    {{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2(x4096),1"}, {"more than 4096"}},
};

const Bad kBadPods[] = {
    {{"JOB_COMPLETION_INDEX=2"}, {"Indexed Job makes this host 2", "ROTA_HOSTS"}, "job-2"},
    {{"JOB_COMPLETION_INDEX=0"}, {"Indexed Job makes this host 0", "even if it is 1"}, "job-0"},
    {{"JOB_COMPLETION_INDEX="}, {"JOB_COMPLETION_INDEX is ''"}},
    {{"JOB_COMPLETION_INDEX=-1", "ROTA_HOSTS=2"}, {"JOB_COMPLETION_INDEX is '-1'"}},
    {{"JOB_COMPLETION_INDEX=2", "ROTA_HOSTS=2"},
     {"JOB_COMPLETION_INDEX is 2", "ROTA_HOSTS is 2", "from 0 to 1"},
     "job-2"},
    {{"JOB_COMPLETION_INDEX=1", "ROTA_HOSTS=2"},
     {"…-1", "'node-7'", "ROTA_HOST", "NAME-1"},
     "node-7"},
    {{"JOB_COMPLETION_INDEX=1", "ROTA_HOSTS=2"}, {"'alpha'", "JOB_COMPLETION_INDEX"}},
    {{"KUBERNETES_SERVICE_HOST=x"}, {"StatefulSet makes this host 3", "ROTA_HOSTS"}, "web-3"},
    {{"ROTA_HOSTS=3"}, {"'web-3'", "the ordinal 3", "ROTA_HOSTS is 3", "from 0 to 2"}, "web-3"},
    {{"ROTA_HOSTS=3", "ROTA_ORDINAL_START=5"}, {"'web-3'", "from 5 to 7"}, "web-3"},
    {{"ROTA_HOSTS=1", "KUBERNETES_SERVICE_HOST=x"},
     {"'web-3'", "ROTA_HOSTS is 1", "give --this-host"},
     "web-3"},
    {{"JOBSET_JOB_INDEX=0"}, {"JOB_COMPLETION_INDEX is not set"}},
    {{"JOBSET_JOB_INDEX=0", "JOB_COMPLETION_INDEX=0"},
     {"JOBSET_REPLICATEDJOB_REPLICAS is not set", "replicatedjob-replicas"}},
    {{"JOBSET_JOB_INDEX=2", "JOB_COMPLETION_INDEX=0", "JOBSET_REPLICATEDJOB_REPLICAS=2"},
     {"JOBSET_JOB_INDEX is 2", "JOBSET_REPLICATEDJOB_REPLICAS is 2"}},
    {{"JOBSET_JOB_INDEX=1", "JOB_COMPLETION_INDEX=0", "JOBSET_REPLICATEDJOB_REPLICAS=2"},
     {"JobSet makes this one of several hosts", "ROTA_HOSTS"}},
    {{"JOBSET_JOB_INDEX=1", "JOB_COMPLETION_INDEX=0", "JOBSET_REPLICATEDJOB_REPLICAS=2",
      "ROTA_HOSTS=3"},
     {"ROTA_HOSTS is 3", "JOBSET_REPLICATEDJOB_REPLICAS is 2"}},
    {{"JOBSET_JOB_INDEX=1", "JOB_COMPLETION_INDEX=2", "JOBSET_REPLICATEDJOB_REPLICAS=2",
      "ROTA_HOSTS=4"},
     {"JOB_COMPLETION_INDEX is 2", "is 2"}},
    {{"JOBSET_JOB_INDEX=1", "JOB_COMPLETION_INDEX=1", "JOBSET_REPLICATEDJOB_REPLICAS=2",
      "ROTA_HOSTS=4"},
     {"…-1-1", "'js-w-1-0'"},
     "js-w-1-0"},
    {{"PET_NNODES=2"}, {"PET_NODE_RANK is not set"}},
    {{"PET_NODE_RANK=0"}, {"PET_NNODES is not set"}},
    {{"PET_NNODES=1:4", "PET_NODE_RANK=0"}, {"PET_NNODES is '1:4'", "elastic"}},
    {{"PET_NNODES=2", "PET_NODE_RANK=2"}, {"PET_NODE_RANK is 2", "PET_NNODES is 2"}},
    {{"PET_NNODES=2", "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=0"}, {"PET_NPROC_PER_NODE is '0'"}},
    {{"PET_NNODES=2", "PET_NODE_RANK=1", "PET_MASTER_ADDR=localhost"},
     {"'localhost'", "means itself"}},
    {{"PET_NNODES=2", "PET_NODE_RANK=1", "PET_MASTER_ADDR=0.0.0.0"}, {"'0.0.0.0'", "means itself"}},
    {{"RANK=0"}, {"WORLD_SIZE is not set", "PyTorchJob"}},
    {{"WORLD_SIZE=2"}, {"RANK is not set"}},
    {{"RANK=2", "WORLD_SIZE=2"}, {"RANK is 2", "WORLD_SIZE is 2"}},
    {{"RANK=0", "WORLD_SIZE=5", "PET_NPROC_PER_NODE=2"},
     {"WORLD_SIZE is 5", "PET_NPROC_PER_NODE is 2"}},
    {{"RANK=3", "WORLD_SIZE=6", "PET_NPROC_PER_NODE=2"}, {"RANK is 3", "is 3"}},
    {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1"}, {"'127.0.0.1'", "means itself"}},
    {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=0.0.0.0"}, {"'0.0.0.0'", "means itself"}},
    {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=::"}, {"'::'", "means itself"}},
    {{"SLURM_JOB_ID=5", "SLURM_JOB_NODELIST=n1,0.0.0.0", "SLURM_JOB_NUM_NODES=2"},
     {"Slurm allocation has 2 hosts", "'0.0.0.0'", "means itself"}},
};

const std::string kTwo =
    R"(TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":1}})";

const Bad kContradictions[] = {
    {{kTwo, "RANK=1", "WORLD_SIZE=3"},
     {"TF_CONFIG and PyTorchJob", "the number of hosts", "host 1 (b:1) of 2", "of 3"}},
    {{kTwo, "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=a"},
     {"TF_CONFIG and PyTorchJob", "which host this is", "host 1 (b:1) of 2", "host 0 (a) of 2"},
     "a"},
    {{kTwo, "ROTA_HOSTS=3"}, {"ROTA_HOSTS is 3", "TF_CONFIG says host 1 (b:1) of 2"}, "b-1"},
    {{kTwo, "ROTA_WORLD=1"},
     {"a world of 1 rank, with 0 declared slots, leaves 1 rank for 2 hosts without declared slots, "
      "but each host needs a rank"}},
    {{kTwo, "ROTA_WORLD=6", "ROTA_SLOTS=6"},
     {"a world of 6 ranks, with 6 declared slots, leaves 0 ranks for 1 host without declared "
      "slots, but each host needs a rank: make the world larger, or declare fewer slots or hosts"}},
    {{"ROTA_HOSTS=a:4,b,c,alpha", "ROTA_WORLD=8"},
     {"a world of 8 ranks, with 4 declared slots, leaves 4 ranks, which 3 hosts without "
      "declared slots cannot share equally"}},
    {{"ROTA_HOSTS=a:4,b,alpha", "ROTA_WORLD=3"}, {"leaves 0 ranks for 2 hosts"}},
    {{kTwo, "ROTA_HOSTS=a,c"},
     {"ROTA_HOSTS and TF_CONFIG", "the name of host 1 (c or b): ", "(a, c)", "(b:1)"}},
    {{"ROTA_HOSTS=alpha:2,b:2", "ROTA_SLOTS=3"}, {"ROTA_SLOTS is 3", "ROTA_HOSTS has 2"}},
    {{"ROTA_HOSTS=a:2,b:2", "ROTA_WORLD=5"},
     {"ROTA_WORLD is 5, and ROTA_HOSTS has 2 hosts: a world of 5 ranks, but 4 declared slots in "
      "total: make the two numbers equal"}},
    {{"ROTA_HOSTS=x,alpha", "JOB_COMPLETION_INDEX=0"},
     {"ROTA_HOSTS and Indexed Job", "host 1 (alpha) of 2", "host 0"}},
    {{"PET_NNODES=2", "PET_NODE_RANK=1", "JOB_COMPLETION_INDEX=0"},
     {"Kubeflow Trainer and Indexed Job", "which host this is"}},
    {{"PET_NNODES=2", "PET_NODE_RANK=1", "ROTA_HOSTS=3"}, {"ROTA_HOSTS is 3", "of 2"}},
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "PMI_RANK=2", "PMI_SIZE=4"},
     {"Open MPI and PMI", "the rank", "rank 1 of 4", "rank 2 of 4"}},
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=0", "PMIX_NAMESPACE=x"},
     {"Open MPI and PMIx", "the rank"}},
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "ROTA_WORLD=8"},
     {"ROTA_WORLD is 8", "rank 1 of 4"}},
    {{"RANK=0", "WORLD_SIZE=4", "LOCAL_RANK=0", "PMI_RANK=0", "PMI_SIZE=2"},
     {"torchrun and PMI", "the size of the world"}},
    {{kTwo, "RANK=0", "WORLD_SIZE=3", "LOCAL_RANK=0", "GROUP_WORLD_SIZE=3"},
     {"torchrun and TF_CONFIG", "the number of hosts"}},
    {{"SLURM_JOB_NODELIST=n[1-2]", "ROTA_HOSTS=n1,n3"},
     {"ROTA_HOSTS and Slurm allocation", "(n1, n3)", "(n1, n2)"}},
    {{"SLURM_JOB_NODELIST=n1", "ROTA_HOSTS=3"}, {"ROTA_HOSTS is 3", "Slurm allocation"}},
};

std::size_t expect_refused(std::span<const Bad> rows) {
  for (const Bad& bad : rows) {
    const std::string refusal = refusal_of(given_of(bad.variables, bad.host_name));
    for (const char* words : bad.words) {
      EXPECT_THAT(refusal, HasSubstr(words)) << bad.variables.front();
    }
  }
  return rows.size();
}

TEST(BadVariables, AreRefusedWhereTheyAreOurs) { expect_refused(kDeclared); }
TEST(BadVariables, AreRefusedWhereAProcessHasThem) { expect_refused(kBadProcesses); }
TEST(BadVariables, AreRefusedWhereTheyAreListsOfSlurm) { expect_refused(kSlurmLists); }
TEST(BadVariables, AreRefusedWhereAPodHasThem) { expect_refused(kBadPods); }
TEST(Contradictions, AreRefusedWithBothSides) { expect_refused(kContradictions); }

// A meaningless source is refused even if another source decides.
TEST(BadVariables, AreRefusedThoughAnotherSourceDecides) {
  EXPECT_THAT(refusal_of(given_of({kTwo, "SLURM_STEP_ID=x"})), HasSubstr("SLURM_STEP_ID is 'x'"));
  EXPECT_THAT(
      refusal_of(given_of({"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "TF_CONFIG="})),
      HasSubstr("TF_CONFIG is empty"));
}

}  // namespace
}  // namespace rota::cluster
