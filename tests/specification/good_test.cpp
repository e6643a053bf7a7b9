// Tests the valid forms of each source that can describe a job: what rota reads from it, and the
// rank table that results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "specification/given.h"

namespace rota::cluster {
namespace {

struct Good {
  const char* name;
  std::vector<std::string> variables;
  const char* said;   // to_text() of the chosen specification.
  const char* hosts;  // hosts_text() of the same specification.
  const char* host_name = kPlainHost;
};

void expect_read(const Good& good, Asker asker = Asker::kLauncher) {
  SCOPED_TRACE(good.name);
  Given given = given_of(good.variables, good.host_name);
  given.asker = asker;
  try {
    const Specification chosen = read(given).chosen;
    EXPECT_EQ(to_text(chosen), good.said);
    EXPECT_EQ(hosts_text(chosen), good.hosts);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

// `more`: further keys besides cluster and task.
std::string tf_config(const std::string& jobs, const std::string& type, const std::string& index,
                      const std::string& more = {}) {
  return R"(TF_CONFIG={"cluster":{)" + jobs + "}," + more + R"("task":{"type":")" + type +
         R"(","index":)" + index + "}}";
}

const Good kTfConfig[] = {
    {"workers",
     {tf_config(R"("worker":["a:1","b:2"])", "worker", "1")},
     "host 1 (b:2) of 2, rendezvous at a:1",
     "a:1 b:2"},
    {"a chief is rank 0",
     {tf_config(R"("worker":["b:1","c:1"],"chief":["a:1"])", "worker", "1")},
     "host 2 (c:1) of 3, rendezvous at a:1",
     "a:1 b:1 c:1"},
    {"the chief itself",
     {tf_config(R"("worker":["b:1"],"chief":["a:1"])", "chief", "0")},
     "host 0 (a:1) of 2, rendezvous at a:1",
     "a:1 b:1"},
    {"a master is a chief",
     {tf_config(R"("worker":["b:1"],"master":["a:1"])", "master", "0")},
     "host 0 (a:1) of 2, rendezvous at a:1",
     "a:1 b:1"},
    {"a chief alone",
     {tf_config(R"("chief":["a:1"])", "chief", "0")},
     "host 0 (a:1) of 1, rendezvous at a:1",
     "a:1"},
    {"tasks without ranks",
     {tf_config(R"("ps":["p:1","q:1"],"evaluator":["e:1"],"worker":["a:1"])", "worker", "0")},
     "host 0 (a:1) of 1, rendezvous at a:1",
     "a:1 [e:1] [p:1] [q:1]"},
    {"an evaluator",
     {tf_config(R"("evaluator":["e:1"],"worker":["a:1","b:1"])", "evaluator", "0")},
     "evaluator e:1, which is not one of the 2 hosts with ranks, rendezvous at a:1",
     "a:1 b:1 [e:1]"},
    {"an evaluator that the cluster leaves out, as TFJob has it",
     {tf_config(R"("worker":["a:1","b:1"])", "evaluator", "0")},
     "evaluator alpha, which is not one of the 2 hosts with ranks, rendezvous at a:1",
     "a:1 b:1 [alpha]"},
    {"a parameter server",
     {tf_config(R"("ps":["e:1"],"worker":["a:1","b:1"])", "ps", "0")},
     "ps e:1, which is not one of the 2 hosts with ranks, rendezvous at a:1",
     "a:1 b:1 [e:1]"},
    {"a map, whose indices are numbers",
     {tf_config(R"("worker":{"10":"k:1","9":"j:1","0":"a:1","1":"b:1","2":"c:1","3":"d:1",)"
                R"("4":"e:1","5":"f:1","6":"g:1","7":"h:1","8":"i:1"})",
                "worker", "10")},
     "host 10 (k:1) of 11, rendezvous at a:1",
     "a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1"},
    {"an index that is a text",
     {tf_config(R"("worker":["a:1","b:1"])", "worker", "\"1\"")},
     "host 1 (b:1) of 2, rendezvous at a:1",
     "a:1 b:1"},
    {"what Kubeflow adds, and what nobody knows",
     {tf_config(R"("worker":["m-worker-0.ns.svc:2222","m-worker-1.ns.svc:2222"])", "worker", "1",
                R"("environment":"cloud","rpc_layer":"grpc","x":[1,{"y":null}],)")},
     "host 1 (m-worker-1.ns.svc:2222) of 2, rendezvous at m-worker-0.ns.svc:2222",
     "m-worker-0.ns.svc:2222 m-worker-1.ns.svc:2222",
     "m-worker-1"},
    {"tasks of one host",
     {tf_config(R"("worker":["127.0.0.1:1","127.0.0.1:2"])", "worker", "1")},
     "host 1 (127.0.0.1:2) of 2, rendezvous at 127.0.0.1:1",
     "127.0.0.1:1 127.0.0.1:2"},
    {"tasks of one host, by the form of IPv6",
     {tf_config(R"("worker":["[::ffff:127.0.0.1]:1","[::ffff:127.0.0.1]:2"])", "worker", "0")},
     "host 0 ([::ffff:127.0.0.1]:1) of 2, rendezvous at [::ffff:127.0.0.1]:1",
     "[::ffff:127.0.0.1]:1 [::ffff:127.0.0.1]:2"},
    {"IPv6",
     {tf_config(R"("worker":["[fd00::1]:1","[fd00::2]:1"])", "worker", "0")},
     "host 0 ([fd00::1]:1) of 2, rendezvous at [fd00::1]:1",
     "[fd00::1]:1 [fd00::2]:1"},
    {"a job without tasks",
     {tf_config(R"("worker":["a:1"],"ps":[])", "worker", "0")},
     "host 0 (a:1) of 1, rendezvous at a:1",
     "a:1"},
    {"no cluster", {"TF_CONFIG={}"}, "host 0 (alpha) of 1, rendezvous at alpha", "alpha"},
    {"no task in an empty cluster",
     {"TF_CONFIG={\"cluster\":{}}"},
     "host 0 (alpha) of 1, rendezvous at alpha",
     "alpha"},
    {"slots beside it",
     {tf_config(R"("worker":["a:1","b:2"])", "worker", "1"), "ROTA_SLOTS=3", "ROTA_WORLD=5"},
     "host 1 (b:2) of 2, a world of 5 ranks, rendezvous at a:1",
     "a:1 b:2*3"},
};

const Good kProcesses[] = {
    {"torchrun",
     {"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4", "GROUP_RANK=1",
      "GROUP_WORLD_SIZE=2", "MASTER_ADDR=a", "MASTER_PORT=29500", "TORCHELASTIC_RESTART_COUNT=2",
      "TORCHELASTIC_RUN_ID=mine"},
     "rank 5 of 8, 1 on its host, on 2 hosts, rendezvous at a:29500, epoch 2, job mine",
     "? ?"},
    {"torchrun with the least",
     {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0"},
     "rank 0 of 2, 0 on its host",
     ""},
    {"torchrun over IPv6",
     {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=fd00::1", "MASTER_PORT=1"},
     "rank 0 of 2, 0 on its host, rendezvous at [fd00::1]:1",
     ""},
    {"Open MPI, and PMIx under it",
     {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1",
      "OMPI_COMM_WORLD_LOCAL_SIZE=2", "OMPI_COMM_WORLD_NODE_RANK=1", "PMIX_RANK=3",
      "PMIX_NAMESPACE=x.1", "PMIX_SERVER_URI41=y"},
     "rank 3 of 4, 1 on its host",
     ""},
    {"PMIx alone",
     {"PMIX_RANK=3", "PMIX_NAMESPACE=x.1"},
     "rank 3 of a world of unknown size, job x.1",
     ""},
    {"PMIx, with the size that another knows",
     {"PMIX_RANK=3", "PMIX_NAMESPACE=x.1", "PMI_RANK=3", "PMI_SIZE=4"},
     "rank 3 of 4, job x.1",
     ""},
    {"PMI-1",
     {"PMI_RANK=1", "PMI_SIZE=4", "PMI_FD=5", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"},
     "rank 1 of 4, 1 on its host",
     ""},
    {"a step of Slurm's with several tasks a node",
     {"SLURM_STEP_ID=0", "SLURM_JOB_ID=7", "SLURM_PROCID=3", "SLURM_NTASKS=5", "SLURM_LOCALID=1",
      "SLURM_NODEID=1", "SLURM_NNODES=3", "SLURM_JOB_NODELIST=n[1-3]",
      "SLURM_TASKS_PER_NODE=2(x2),1"},
     "rank 3 of 5, 1 on its host, on 3 hosts, job 7",
     "n1*2 n2*2 n3*1"},
    {"the step's own variables before the job's",
     {"SLURM_STEP_ID=1", "SLURM_JOB_ID=7", "SLURM_PROCID=1", "SLURM_NTASKS=2",
      "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=1", "SLURM_STEP_NODELIST=n2",
      "SLURM_STEP_TASKS_PER_NODE=2", "SLURM_JOB_NODELIST=n[1-3]", "SLURM_NODEID=0",
      "SLURM_JOB_NUM_NODES=3", "SLURM_TASKS_PER_NODE=4(x3)"},
     "rank 1 of 2, on 1 host, job 7",
     "n2*2"},
    {"mpirun inside an allocation of more",
     {"SLURM_JOB_ID=7", "SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_JOB_NODELIST=n1",
      "SLURM_TASKS_PER_NODE=8", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"},
     "rank 1 of 2",
     ""},
};

// A step with one task on each node, in which another launcher has made this process a rank.
const Good kInTasks[] = {
    {"mpiexec's own daemons are a step with one task a node",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_NODEID=1", "SLURM_NNODES=2",
      "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_STEP_TASKS_PER_NODE=1(x2)",
      "PMI_RANK=1", "PMI_SIZE=4", "PMI_JOBID=kvs_7_0"},
     "rank 1 of 4",
     ""},
    {"mpiexec in a shell that is the only task, where srun speaks PMI too",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_NODEID=0", "SLURM_NNODES=1",
      "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n1", "SLURM_STEP_TASKS_PER_NODE=1", "PMI_RANK=2",
      "PMI_SIZE=3", "PMI_JOBID=7.0", "MPI_LOCALRANKID=2", "MPI_LOCALNRANKS=3"},
     "rank 2 of 3, 2 on its host",
     ""},
    {"mpirun's own daemons are a step with one task a node",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_NODEID=1", "SLURM_NNODES=2",
      "SLURM_JOB_NODELIST=n[1-2]", "SLURM_STEP_TASKS_PER_NODE=1(x2)", "OMPI_COMM_WORLD_RANK=5",
      "OMPI_COMM_WORLD_SIZE=8"},
     "rank 5 of 8",
     ""},
    {"torchrun is the task of each node",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_NODEID=1", "SLURM_NNODES=2",
      "SLURM_JOB_NODELIST=n[1-2]", "SLURM_STEP_TASKS_PER_NODE=1(x2)", "RANK=5", "WORLD_SIZE=8",
      "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4", "GROUP_WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=none"},
     "rank 5 of 8, 1 on its host, on 2 hosts, job none",
     "? ?"},
    {"mpirun in a shell that is the only task",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_NODEID=0", "SLURM_NNODES=1",
      "SLURM_JOB_NODELIST=n1", "SLURM_STEP_TASKS_PER_NODE=1", "OMPI_COMM_WORLD_RANK=3",
      "OMPI_COMM_WORLD_SIZE=4"},
     "rank 3 of 4",
     ""},
    {"prun in a shell that is the only task",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_NODEID=0", "SLURM_NNODES=1",
      "SLURM_JOB_NODELIST=n1", "SLURM_STEP_TASKS_PER_NODE=1", "PMIX_RANK=3", "PMIX_NAMESPACE=x.1"},
     "rank 3 of a world of unknown size, job x.1",
     ""},
};

const Good kHosts[] = {
    {"a step of Slurm's with one task a node",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_LOCALID=0", "SLURM_NODEID=1",
      "SLURM_NNODES=2", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1(x2)"},
     "host 1 (n2) of 2, rendezvous at n1",
     "n1 n2"},
    {"a step with one task a node, where srun speaks PMI too",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_LOCALID=0", "SLURM_NODEID=1",
      "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1(x2)", "PMI_RANK=1",
      "PMI_SIZE=2", "PMI_FD=13", "PMI_JOBID=7.0"},
     "host 1 (n2) of 2, rendezvous at n1, job 7",
     "n1 n2"},
    {"a step with one task a node, where srun speaks PMIx too",
     {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_LOCALID=0", "SLURM_NODEID=1",
      "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1(x2)", "PMIX_RANK=1",
      "PMIX_NAMESPACE=slurm.pmix.7.0"},
     "host 1 (n2) of 2, rendezvous at n1, job 7",
     "n1 n2"},
    {"the batch script of an allocation whose nodes are not called as their hosts are",
     {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURMD_NODENAME=n2", "SLURM_NODEID=0"},
     "host 1 (n2) of 2, rendezvous at n1, job 7",
     "n1 n2",
     "elsewhere"},
    {"an allocation within another's batch script",
     {"SLURM_JOB_ID=8", "SLURM_JOB_NODELIST=n[3-4]", "SLURMD_NODENAME=n2"},
     "host 0 (n3) of 2, rendezvous at n3, job 8",
     "n3 n4",
     "n3"},
    {"an allocation",
     {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[08-10],m5", "SLURM_JOB_NUM_NODES=4", "SLURM_PROCID=0",
      "SLURM_NTASKS=7", "SLURM_TASKS_PER_NODE=2(x3),1", "SLURM_RESTART_COUNT=1"},
     "host 2 (n10) of 4, rendezvous at n08, epoch 1, job 7",
     "n08*2 n09*2 n10*2 m5*1",
     "n10.cluster.example"},
    {"the shell of an allocation, which is a step by name alone",
     {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n1", "SLURM_STEP_ID=4294967290", "SLURM_NTASKS=1"},
     "1 host (n1), rendezvous at n1, job 7",
     "n1"},
    {"a step across the components of a heterogeneous job",
     {"SLURM_STEP_ID=0", "SLURM_HET_SIZE=2", "SLURM_JOB_ID=7", "SLURM_PROCID=2", "SLURM_NTASKS=3",
      "SLURM_STEP_NUM_TASKS=3", "SLURM_LOCALID=0", "SLURM_NODEID=2", "SLURM_STEP_NUM_NODES=3",
      "SLURM_STEP_NODELIST=n[1-3]", "SLURM_STEP_TASKS_PER_NODE=1(x3)", "SLURM_JOB_NUM_NODES=1"},
     "host 2 (n3) of 3, rendezvous at n1, job 7",
     "n1 n2 n3"},
    {"an allocation that is one component",
     {"SLURM_JOB_ID=7", "SLURM_HET_SIZE=1", "SLURM_JOB_NODELIST=n[1-2]"},
     "2 hosts (n1, n2), rendezvous at n1, job 7",
     "n1 n2"},
    {"ROTA_HOSTS by name",
     {"ROTA_HOSTS=beta:2,alpha:4"},
     "host 1 (alpha) of 2, rendezvous at beta",
     "beta*2 alpha*4"},
    {"ROTA_HOSTS by a longer name",
     {"ROTA_HOSTS=beta,alpha.example"},
     "host 1 (alpha.example) of 2, rendezvous at beta",
     "beta alpha.example"},
    {"ROTA_HOSTS without this one", {"ROTA_HOSTS=x,y"}, "2 hosts (x, y), rendezvous at x", "x y"},
    {"a host that is named again has more slots",
     {"ROTA_HOSTS=x,y,x:2,x"},
     "2 hosts (x, y), rendezvous at x",
     "x*4 y"},
    {"one host, declared", {"ROTA_HOSTS=1"}, "host 0 (alpha) of 1, rendezvous at alpha", "alpha"},
    {"slots and a world, declared",
     {"ROTA_SLOTS=2", "ROTA_WORLD=2"},
     "host 0 (alpha) of 1, a world of 2 ranks, rendezvous at alpha",
     "alpha*2"},
    {"a service's links are not ours",
     {"ROTA_SERVICE_HOST=10.0.0.1", "ROTA_SERVICE_PORT=80", "ROTA_PORT=tcp://10.0.0.1:80",
      "ROTA_HOSTS_PORT=tcp://10.0.0.1:80", "ROTA_WORLD_PORT_80_TCP=tcp://10.0.0.1:80"},
     "host 0 (alpha) of 1, rendezvous at alpha",
     "alpha"},
    {"the links of a service named master",
     {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=a", "MASTER_PORT=tcp://10.0.0.1:29500",
      "MASTER_SERVICE_HOST=10.0.0.1"},
     "rank 0 of 2, 0 on its host, rendezvous at a",
     ""},
    {"nothing", {}, "host 0 (alpha) of 1, rendezvous at alpha", "alpha"},
    {"a rank of rotarun's reads nothing",
     {"ROTA_RENDEZVOUS_FD=3", "TF_CONFIG=[", "RANK=x", "ROTA_HOSTS=-1"},
     "host 0 (alpha) of 1, rendezvous at alpha",
     "alpha"},
};

const Good kPods[] = {
    {"an Indexed Job",
     {"JOB_COMPLETION_INDEX=9", "ROTA_HOSTS=11", "ROTA_SERVICE=mnist"},
     "host 9 (job-9.mnist) of 11, rendezvous at job-0.mnist",
     "job-0.mnist job-1.mnist job-2.mnist job-3.mnist job-4.mnist job-5.mnist job-6.mnist "
     "job-7.mnist job-8.mnist job-9.mnist job-10.mnist",
     "job-9"},
    {"an Indexed Job whose pods have full names",
     {"JOB_COMPLETION_INDEX=1", "ROTA_HOSTS=2", "ROTA_SERVICE=unused"},
     "host 1 (job-1.s.ns.svc) of 2, rendezvous at job-0.s.ns.svc",
     "job-0.s.ns.svc job-1.s.ns.svc",
     "job-1.s.ns.svc"},
    {"a StatefulSet",
     {"ROTA_HOSTS=3", "KUBERNETES_SERVICE_HOST=10.0.0.1"},
     "host 2 (mnist-2) of 3, rendezvous at mnist-0",
     "mnist-0 mnist-1 mnist-2",
     "mnist-2"},
    {"a StatefulSet that starts at 5",
     {"ROTA_HOSTS=2", "ROTA_ORDINAL_START=5", "ROTA_SERVICE=s"},
     "host 1 (mnist-6.s) of 2, rendezvous at mnist-5.s",
     "mnist-5.s mnist-6.s",
     "mnist-6"},
    {"a pod whose name ends with random digits",
     {"KUBERNETES_SERVICE_HOST=10.0.0.1"},
     "host 0 (train-24569) of 1, rendezvous at train-24569",
     "train-24569",
     "train-24569"},
    {"a pod whose name ends with a hash",
     {"KUBERNETES_SERVICE_HOST=10.0.0.1"},
     "host 0 (wf-238912038) of 1, rendezvous at wf-238912038",
     "wf-238912038",
     "wf-238912038"},
    {"a pod with random digits that is declared to be alone",
     {"KUBERNETES_SERVICE_HOST=10.0.0.1", "ROTA_HOSTS=1"},
     "host 0 (train-24569) of 1, rendezvous at train-24569",
     "train-24569",
     "train-24569"},
    {"a machine with a number that is no pod",
     {},
     "host 0 (node-3) of 1, rendezvous at node-3",
     "node-3",
     "node-3"},
    {"a numbered node of an allocation",
     {"ROTA_HOSTS=2", "SLURM_JOB_NODELIST=node-[3-4]"},
     "host 0 (node-3) of 2, rendezvous at node-3",
     "node-3 node-4",
     "node-3"},
    {"a JobSet of two jobs",
     {"JOB_COMPLETION_INDEX=1", "JOBSET_JOB_INDEX=1", "JOBSET_REPLICATEDJOB_REPLICAS=2",
      "JOBSET_NAME=js", "JOBSET_RESTART_ATTEMPT=3", "ROTA_HOSTS=4"},
     "host 3 (js-w-1-1.js) of 4, rendezvous at js-w-0-0.js, epoch 3, job js",
     "js-w-0-0.js js-w-0-1.js js-w-1-0.js js-w-1-1.js",
     "js-w-1-1"},
    {"Trainer, on an Indexed Job",
     {"PET_NNODES=2", "PET_NPROC_PER_NODE=2", "PET_NODE_RANK=1", "JOB_COMPLETION_INDEX=1",
      "PET_MASTER_ADDR=t-node-0-0.t", "PET_MASTER_PORT=29500", "KUBERNETES_SERVICE_HOST=x"},
     "host 1 (t-node-0-1) of 2, a world of 4 ranks, rendezvous at t-node-0-0.t:29500",
     "t-node-0-0.t:29500*2 t-node-0-1*2",
     "t-node-0-1"},
    {"Trainer that leaves the slots open",
     {"PET_NNODES=1", "PET_NPROC_PER_NODE=auto", "PET_NODE_RANK=0"},
     "host 0 (alpha) of 1, rendezvous at alpha",
     "alpha"},
    {"PyTorchJob, where RANK is the pod's",
     {"RANK=1", "WORLD_SIZE=3", "MASTER_ADDR=p-master-0", "MASTER_PORT=23456"},
     "host 1 (p-worker-0) of 3, rendezvous at p-master-0:23456",
     "p-master-0:23456 p-worker-0 ?",
     "p-worker-0"},
    {"PyTorchJob with several processes a pod",
     {"RANK=1", "WORLD_SIZE=6", "MASTER_ADDR=p-master-0", "PET_NPROC_PER_NODE=3", "PET_NNODES=2",
      "PET_NODE_RANK=1"},
     "host 1 (p-worker-0) of 2, a world of 6 ranks",
     "?*3 p-worker-0*3",
     "p-worker-0"},
    {"PyTorchJob's master, which is told localhost",
     {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=localhost", "MASTER_PORT=1"},
     "host 0 (p-master-0:1) of 2, rendezvous at p-master-0:1",
     "p-master-0:1 ?",
     "p-master-0"},
    {"PyTorchJob's master, which is told where to listen",
     {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=0.0.0.0", "MASTER_PORT=1"},
     "host 0 (p-master-0:1) of 2, rendezvous at p-master-0:1",
     "p-master-0:1 ?",
     "p-master-0"},
    {"addresses beside names, which may be of one host",
     {tf_config(R"("worker":["10.0.0.1:1","10.0.0.2:1"])", "worker", "1"), "RANK=1", "WORLD_SIZE=2",
      "MASTER_ADDR=p-master-0"},
     "host 1 (10.0.0.2:1) of 2, rendezvous at 10.0.0.1:1",
     "10.0.0.1:1 10.0.0.2:1",
     "p-worker-0"},
    {"a TFJob's pod, whose ordinal is its type's",
     {tf_config(R"("chief":["m-chief-0:1"],"worker":["m-worker-0:1"])", "worker", "0"),
      "KUBERNETES_SERVICE_HOST=x"},
     "host 1 (m-worker-0:1) of 2, rendezvous at m-chief-0:1",
     "m-chief-0:1 m-worker-0:1",
     "m-worker-0"},
};

TEST(TfConfig, IsReadAsTensorFlowDoes) {
  for (const Good& good : kTfConfig) expect_read(good);
}
TEST(ProcessLevel, MakesThisProcessARank) {
  for (const Good& good : kProcesses) expect_read(good);
}
TEST(ProcessLevel, IsThatOfTheLauncherInsideATask) {
  for (const Asker asker : {Asker::kLauncher, Asker::kProgram}) {
    for (const Good& good : kInTasks) expect_read(good, asker);
  }
}

// srun itself may have set the variables of PMI and PMIx.
TEST(ProcessLevel, IsThatOfTheOnlyTaskOfANode) {
  for (const Good& good : std::span(kHosts).first(3)) {
    SCOPED_TRACE(good.name);
    Given given = given_of(good.variables);
    given.asker = Asker::kProgram;
    const Specification chosen = read(given).chosen;
    EXPECT_EQ(chosen.level, Level::kProcess);
    EXPECT_EQ(chosen.rank, std::size_t{1});
    EXPECT_EQ(chosen.world_size, std::size_t{2});
  }
}

TEST(HostLevel, MakesThisHostOneOfSeveral) {
  for (const Good& good : kHosts) expect_read(good);
}
TEST(Pods, KnowTheirIndex) {
  for (const Good& good : kPods) expect_read(good);
}

// Without a launcher a task is one process, and so a rank.
TEST(TfConfig, MakesAProgramARank) {
  Given given = given_of({kTfConfig[1].variables});
  given.asker = Asker::kProgram;
  const Specification chosen = read(given).chosen;
  EXPECT_EQ(to_text(chosen), "rank 2 of 3, on 3 hosts");
  EXPECT_EQ(hosts_text(chosen), "a:1*1 b:1*1 c:1*1");
}

// Several tasks may run on one node of a Slurm step.
TEST(TfConfig, MakesAProgramARankWhereverItsTasksAre) {
  Given given =
      given_of({"SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_NTASKS=3", "SLURM_LOCALID=0",
                "SLURM_NODEID=1", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_STEP_TASKS_PER_NODE=2,1",
                tf_config(R"("worker":["n1:1","n1:2","n2:1"])", "worker", "2")});
  given.asker = Asker::kProgram;
  const Reading reading = read(given);
  EXPECT_EQ(to_text(reading.chosen), "rank 2 of 3, 0 on its host, on 2 hosts");
  EXPECT_EQ(reading.statements.size(), 2U);
  given.environment = given_of({"SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_NTASKS=3",
                                "SLURM_LOCALID=0", "SLURM_NODEID=1", "SLURM_JOB_NODELIST=n[1-2]",
                                tf_config(R"("worker":["n1:1","n1:2","n1:3"])", "worker", "2")})
                          .environment;
  try {
    read(given);
    ADD_FAILURE() << "accepted: SLURM_NODEID says n2, and TF_CONFIG says n1";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("contradict each other about which host"));
  }
}

TEST(TfConfig, SaysOnceThatParameterServersAreNotUsed) {
  const Specification chosen = read(given_of({kTfConfig[5].variables})).chosen;
  EXPECT_THAT(chosen.remarks, ::testing::ElementsAre("TF_CONFIG has 2 ps: rota needs no "
                                                     "parameter server, so they are not used"));
}

}  // namespace
}  // namespace rota::cluster
