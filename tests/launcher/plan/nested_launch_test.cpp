// Each rank that another launcher has started counts as a host. rotarun finds the place where these
// hosts meet, the index of each host, and the hosts that share a machine.
#include "launcher/plan/nested_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/plan/job_scope.h"
#include "os/address.h"
#include "os/file.h"
#include "os/host.h"
#include "os/message_socket.h"

namespace rota::launcher {
namespace {

using ::testing::HasSubstr;

using Variables = std::vector<std::string>;

cluster::Given given_by(const Variables& variables) {
  return {.environment = cluster::Environment(variables), .host_name = "here"};
}

JobScope scope_of(const Variables& variables, const Options& options = {}) {
  return decide_scope(options, given_by(variables));
}

std::string refusal_to_reach(const Variables& variables, const Options& options = {}) {
  try {
    const JobScope scope = scope_of(variables, options);
    return "it is host " + std::to_string(*scope.hosts->own_host);
  } catch (const std::exception& error) {
    return error.what();
  }
}

const Variables kTorchrun = {"RANK=2",
                             "WORLD_SIZE=4",
                             "LOCAL_RANK=0",
                             "MASTER_ADDR=a",
                             "MASTER_PORT=29500",
                             "LOCAL_WORLD_SIZE=2",
                             "GROUP_WORLD_SIZE=2"};

Variables with(Variables variables, const Variables& more) {
  variables.insert(variables.end(), more.begin(), more.end());
  return variables;
}

struct Case {
  Variables variables;
  std::size_t own_host;
  std::size_t host_count;
  std::string name;    // Name of this host.
  std::string leader;  // Where the hosts meet.
};

const Variables kOpenMpi = {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=3",
                            "OMPI_COMM_WORLD_LOCAL_RANK=1"};
const Variables kTogether = with(kOpenMpi, {"OMPI_COMM_WORLD_LOCAL_SIZE=3"});

TEST(NestedLaunch, MakesARankTheHostOfItsNumber) {
  const Variables step = {"SLURM_STEP_ID=0",
                          "SLURM_PROCID=3",
                          "SLURM_NTASKS=4",
                          "SLURM_LOCALID=1",
                          "SLURM_NODEID=1",
                          "SLURM_NNODES=2",
                          "SLURM_JOB_NODELIST=n[1-2]",
                          "SLURM_TASKS_PER_NODE=2(x2)"};
  const std::vector<Case> cases = {
      {kTorchrun, 2, 4, "here", "a:29500"},
      {with(kTorchrun, {"TORCHELASTIC_USE_AGENT_STORE=False"}), 2, 4, "here", "a:29500"},
      {with(kTorchrun, {"TORCHELASTIC_USE_AGENT_STORE=True"}), 2, 4, "here", "a:7700"},
      {with(kTogether, {"ROTA_KEY_FILE=key"}), 1, 3, "here", "127.0.0.1:7700"},
      {with(kOpenMpi, {"OMPI_COMM_WORLD_LOCAL_SIZE=2", "MASTER_ADDR=b"}), 1, 3, "here", "b:7700"},
      {with(kOpenMpi, {"MASTER_ADDR=fd00::1", "MASTER_PORT=5"}), 1, 3, "here", "[fd00::1]:5"},
      {{"PMI_RANK=0", "PMI_SIZE=2", "MASTER_ADDR=b"}, 0, 2, "here", "b:7700"},
      {{"PMIX_RANK=1", "PMIX_NAMESPACE=j", "ROTA_WORLD=2", "MASTER_ADDR=b"},
       1,
       2,
       "here",
       "b:7700"},
      {step, 3, 4, "n2", "n1:7700"},
      {with(step, {"MASTER_ADDR=127.0.0.1"}), 3, 4, "n2", "127.0.0.1:7700"},
  };
  for (const Case& example : cases) {
    const JobScope scope = scope_of(example.variables);
    ASSERT_TRUE(scope.hosts) << example.variables.front();
    EXPECT_TRUE(is_nested_launch(*scope.hosts));
    const HostPlan host_plan = plan_hosts(*scope.hosts, {});
    EXPECT_EQ(host_plan.own_host, example.own_host);
    EXPECT_EQ(host_plan.host_count, example.host_count);
    EXPECT_EQ(host_plan.leader, example.leader) << example.variables.front();
    EXPECT_EQ(scope.hosts->hosts[example.own_host].name, example.name);
    EXPECT_EQ(scope.hosts->hosts[example.own_host].slots, 1U);
  }
}

HostPlan planned(const Variables& variables, const Options& options = {}) {
  return plan_hosts(*scope_of(variables, options).hosts, options);
}

std::string own_name(const std::string& job) {
  return "@rota-" + std::to_string(os::own_user()) + "-" + job + ":7700";
}

TEST(NestedLaunch, MeetsByALocalNameWhereAllAreOnOneMachine) {
  const Variables one_node = {"SLURM_JOB_ID=9",  "SLURM_STEP_ID=4",        "SLURM_PROCID=1",
                              "SLURM_NTASKS=2",  "SLURM_STEP_NUM_NODES=1", "SLURM_NODEID=0",
                              "SLURM_LOCALID=1", "SLURM_STEP_NODELIST=n1"};
  const std::string parent = "of-" + std::to_string(os::parent_process());
  const std::vector<std::pair<Variables, std::string>> cases = {
      {with(kTogether, {"PMIX_NAMESPACE=4711"}), "4711"},
      {with(kTogether, {"PMIX_NAMESPACE=prterun-a:5@1"}), "prterun-a_5_1"},
      {with(kTogether, {"PMIX_NAMESPACE=" + std::string(99, 'x') + "1"}),
       std::string(63, 'x') + "1"},
      {kTogether, parent},
      {{"PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=0"}, parent},
      {one_node, "9.4"},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=here",
        "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=none", "TORCHELASTIC_USE_AGENT_STORE=True"},
       "none-29500"},
  };
  for (const auto& [variables, job] : cases) {
    const HostPlan host_plan = planned(variables);
    EXPECT_EQ(host_plan.leader, own_name(job)) << variables.front();
    EXPECT_TRUE(host_plan.is_local);
    EXPECT_TRUE(host_plan.is_on_loopback);
    EXPECT_NO_THROW(os::parse_address(host_plan.leader));
  }
}

// A script between MPICH's proxy and rotarun passes the socket on.
TEST(NestedLaunch, KnowsMpichsProxyByTheSocketOfIt) {
  const auto [ours, theirs] = os::make_message_socket_pair();
  const auto name = [](const std::string& fd) {
    return planned({"PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2", "PMI_FD=" + fd}).leader;
  };
  const std::string parent = own_name("of-" + std::to_string(os::parent_process()));
  EXPECT_EQ(name(std::to_string(theirs.get())),
            own_name("of-" + std::to_string(os::own_process())));
  EXPECT_EQ(name("1000000"), parent);
  EXPECT_EQ(name("none"), parent);
}

// If a task starts two rotaruns, the first port of --ports makes their names different.
TEST(NestedLaunch, HasTheFirstPortInALocalName) {
  Options options;
  options.ports = {9000, 9010};
  EXPECT_TRUE(planned(kTogether, options).leader.ends_with(":9000"));
}

TEST(NestedLaunch, MeetsElsewhereWhereAKeyIsNamedOrNotAllAreOnOneMachine) {
  Options with_file;
  with_file.key_file = "key";
  Options with_descriptor;
  with_descriptor.key_fd = 3;
  Options insecure;
  insecure.insecure = true;
  for (const Options& options : {with_file, with_descriptor, insecure}) {
    EXPECT_EQ(planned(kTogether, options).leader, "127.0.0.1:7700");
    EXPECT_FALSE(planned(kTogether, options).is_local);
  }
  EXPECT_FALSE(planned(kTorchrun).is_local);
  EXPECT_FALSE(
      planned({"PMIX_RANK=1", "PMIX_NAMESPACE=j", "ROTA_WORLD=2", "MASTER_ADDR=b"}).is_local);
}

TEST(NestedLaunch, MayShareMemoryByALocalName) {
  const Options options{.transport = base::find_transport("shm")};
  EXPECT_EQ(refusal_to_reach(kTogether, options), "it is host 1");
  EXPECT_THAT(refusal_to_reach(with(kTogether, {"ROTA_KEY_FILE=key"}), options),
              HasSubstr("--transport shm works on one host only"));
}

TEST(NestedLaunch, AgreesWithTheOthersInWords) {
  const auto words = [](const std::string& rank, const std::string& host) {
    const cluster::Given given{
        .environment = cluster::Environment(
            Variables{"PMI_RANK=" + rank, "PMI_SIZE=2", "MASTER_ADDR=b", "PMIX_NAMESPACE=77"}),
        .host_name = host};
    const HostPlan host_plan = plan_hosts(*decide_scope({}, given).hosts, {});
    return host_plan.cluster_text + " of " + host_plan.job_id;
  };
  EXPECT_EQ(words("0", "x"), words("1", "y"));
  EXPECT_EQ(words("0", "x"), "2 hosts that meet at b:7700, a world of 2 of 77");
}

TEST(NestedLaunch, TellsStepsOfOneAllocationApart) {
  const auto job_of = [](const std::string& step) {
    return scope_of({"SLURM_JOB_ID=9", "SLURM_STEP_ID=" + step, "SLURM_PROCID=0", "SLURM_NTASKS=2",
                     "SLURM_NNODES=1", "SLURM_JOB_NODELIST=n1"})
        .hosts->job_id;
  };
  EXPECT_EQ(job_of("0"), "9.0");
  EXPECT_EQ(job_of("1"), "9.1");
}

// All ranks get the same address, so rank 0 would wait for ranks that have ended.
TEST(NestedLaunch, RefusesAnAddressThatNoOtherHostCanUse) {
  const auto said = [](const char* address, const Variables& torchrun) {
    Variables variables = torchrun;
    variables[3] = std::string("MASTER_ADDR=") + address;
    return refusal_to_reach(variables);
  };
  for (const char* address : {"0.0.0.0", "::", "::ffff:0.0.0.0"}) {
    EXPECT_THAT(said(address, kTorchrun),
                HasSubstr("torchrun says rank 2 of 4, 0 on its host, on 2 hosts, rendezvous at "));
    EXPECT_THAT(said(address, kTorchrun),
                HasSubstr(", and that rank 0 is at '" + std::string(address) +
                          "'; every host means itself by that name: give the name by which other "
                          "hosts reach rank 0"));
    for (const char* own : {"RANK=0", "RANK=1"}) {
      Variables of_first = kTorchrun;
      of_first[0] = own;
      EXPECT_THAT(said(address, of_first), HasSubstr("every host means itself by that name"))
          << own;
    }
    const Variables by_mpirun = {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4",
                                 "OMPI_COMM_WORLD_LOCAL_SIZE=2", "MASTER_ADDR="};
    EXPECT_THAT(said(address, by_mpirun), HasSubstr("every host means itself by that name"));
    Variables on_one_machine = kTorchrun;
    on_one_machine[5] = "LOCAL_WORLD_SIZE=4";
    EXPECT_EQ(said(address, on_one_machine), "it is host 2");
  }
  EXPECT_EQ(said("127.0.0.1", kTorchrun), "it is host 2");
  EXPECT_EQ(said("10.0.0.1", kTorchrun), "it is host 2");
}

TEST(NestedLaunch, SaysWhatIsMissing) {
  EXPECT_EQ(refusal_to_reach({"PMI_RANK=1", "PMI_SIZE=4"}),
            "PMI says rank 1 of 4, but not where rank 0 is: for all ranks, set MASTER_ADDR to the "
            "name or the address of the host of rank 0");
  EXPECT_THAT(refusal_to_reach({"PMIX_RANK=1", "PMIX_NAMESPACE=j", "MASTER_ADDR=a"}),
              HasSubstr("set ROTA_WORLD to the number of ranks"));
  EXPECT_THAT(refusal_to_reach({"PMI_RANK=1", "PMI_SIZE=4", "MASTER_ADDR=a", "MASTER_PORT=x"}),
              HasSubstr("MASTER_PORT"));
  EXPECT_EQ(refusal_to_reach(kTorchrun, {.rank_count = 1}),
            "--np is 1, but torchrun says " +
                cluster::to_text(cluster::read(given_by(kTorchrun)).chosen) +
                ": leave out the wrong one");
  EXPECT_EQ(refusal_to_reach(kTorchrun, {.rank_count = 4}), "it is host 2");
  EXPECT_THAT(refusal_to_reach(kTorchrun, {.transport = base::find_transport("shm")}),
              HasSubstr("--transport shm works on one host only"));
}

TEST(NestedLaunch, LeavesAWorldOfOneAlone) {
  EXPECT_FALSE(scope_of({"PMI_RANK=0", "PMI_SIZE=1"}, {.rank_count = 3}).hosts);
}

// The place of a rank in an assignment: its local rank, the number of ranks on its machine, its
// machine, and the number of machines.
using Placed = std::vector<std::size_t>;

std::vector<Placed> placed(const std::vector<OwnPlace>& places) {
  std::vector<HostAssignment> assignments;
  for (std::size_t rank = 0; rank < places.size(); ++rank) assignments.push_back({.ranks = {rank}});
  place_on_machines(places, assignments);
  std::vector<Placed> all;
  all.reserve(assignments.size());
  for (const HostAssignment& assignment : assignments) {
    all.push_back({assignment.earlier_count, assignment.ranks.size() + assignment.other_count,
                   assignment.host_index, assignment.host_count});
  }
  return all;
}

TEST(NestedLaunch, OnMachinesAreCountedByName) {
  EXPECT_EQ(placed({{"a"}, {"a"}, {"b"}, {"a"}}),
            (std::vector<Placed>{{0, 3, 0, 2}, {1, 3, 0, 2}, {0, 1, 1, 2}, {2, 3, 0, 2}}));
}

// Containers on one machine may have different host names. Then LOCAL_RANK and LOCAL_WORLD_SIZE
// decide.
TEST(NestedLaunch, OnMachinesAreAsTheyWereTold) {
  EXPECT_EQ(placed({{"a", 0, 2}, {"b", 1, 2}}), (std::vector<Placed>{{0, 2, 0, 2}, {1, 2, 1, 2}}));
  EXPECT_EQ(placed({{"a", 3, std::nullopt}, {"b"}}),
            (std::vector<Placed>{{3, 4, 0, 2}, {0, 1, 1, 2}}));
}

}  // namespace
}  // namespace rota::launcher
