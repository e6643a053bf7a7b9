// Ranks that another launcher has started, as hosts: where they meet, who they are, and which of
// them share a machine.
#include "launcher/plan/one_slot_each.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/hosts/meet/meeting.h"
#include "launcher/plan/reach.h"
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

Reach reach_of(const Variables& variables, const Options& options = {}) {
  return decide_reach(options, given_by(variables));
}

std::string refusal_to_reach(const Variables& variables, const Options& options = {}) {
  try {
    const Reach reach = reach_of(variables, options);
    return "it is host " + std::to_string(*reach.hosts->own_host);
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
  std::string name;    // Of the own host.
  std::string leader;  // Where they meet.
};

const Variables kOpenMpi = {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=3",
                            "OMPI_COMM_WORLD_LOCAL_RANK=1"};
const Variables kTogether = with(kOpenMpi, {"OMPI_COMM_WORLD_LOCAL_SIZE=3"});

TEST(OneSlotEach, MakesARankTheHostOfItsNumber) {
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
    const Reach reach = reach_of(example.variables);
    ASSERT_TRUE(reach.hosts) << example.variables.front();
    EXPECT_TRUE(is_one_slot_each(*reach.hosts));
    const Meeting meeting = plan_meeting(*reach.hosts, {});
    EXPECT_EQ(meeting.own_host, example.own_host);
    EXPECT_EQ(meeting.host_count, example.host_count);
    EXPECT_EQ(meeting.leader, example.leader) << example.variables.front();
    EXPECT_EQ(reach.hosts->hosts[example.own_host].name, example.name);
    EXPECT_EQ(reach.hosts->hosts[example.own_host].slots, 1U);
  }
}

Meeting planned(const Variables& variables, const Options& options = {}) {
  return plan_meeting(*reach_of(variables, options).hosts, options);
}

std::string own_name(const std::string& job) {
  return "@rota-" + std::to_string(os::own_user()) + "-" + job + ":7700";
}

TEST(OneSlotEach, MeetsByALocalNameWhereAllAreOnOneMachine) {
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
    const Meeting meeting = planned(variables);
    EXPECT_EQ(meeting.leader, own_name(job)) << variables.front();
    EXPECT_TRUE(meeting.is_local);
    EXPECT_TRUE(meeting.is_on_loopback);
    EXPECT_NO_THROW(os::parse_address(meeting.leader));
  }
}

// As a script between the two hands it on.
TEST(OneSlotEach, KnowsMpichsProxyByTheSocketOfIt) {
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

// Two rotaruns of one task need two names.
TEST(OneSlotEach, HasTheFirstPortInALocalName) {
  Options options;
  options.ports = {9000, 9010};
  EXPECT_TRUE(planned(kTogether, options).leader.ends_with(":9000"));
}

TEST(OneSlotEach, MeetsElsewhereWhereAKeyIsNamedOrNotAllAreOnOneMachine) {
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

TEST(OneSlotEach, MayShareMemoryByALocalName) {
  const Options options{.transport = base::find_transport("shm")};
  EXPECT_EQ(refusal_to_reach(kTogether, options), "it is host 1");
  EXPECT_THAT(refusal_to_reach(with(kTogether, {"ROTA_KEY_FILE=key"}), options),
              HasSubstr("--transport shm is for one host"));
}

TEST(OneSlotEach, AgreesWithTheOthersInWords) {
  const auto words = [](const std::string& rank, const std::string& host) {
    const cluster::Given given{
        .environment = cluster::Environment(
            Variables{"PMI_RANK=" + rank, "PMI_SIZE=2", "MASTER_ADDR=b", "PMIX_NAMESPACE=77"}),
        .host_name = host};
    const Meeting meeting = plan_meeting(*decide_reach({}, given).hosts, {});
    return meeting.cluster_text + " of " + meeting.job_id;
  };
  EXPECT_EQ(words("0", "x"), words("1", "y"));
  EXPECT_EQ(words("0", "x"), "2 hosts that meet at b:7700, a world of 2 of 77");
}

TEST(OneSlotEach, TellsStepsOfOneAllocationApart) {
  const auto job_of = [](const std::string& step) {
    return reach_of({"SLURM_JOB_ID=9", "SLURM_STEP_ID=" + step, "SLURM_PROCID=0", "SLURM_NTASKS=2",
                     "SLURM_NNODES=1", "SLURM_JOB_NODELIST=n1"})
        .hosts->job_id;
  };
  EXPECT_EQ(job_of("0"), "9.0");
  EXPECT_EQ(job_of("1"), "9.1");
}

TEST(OneSlotEach, SaysWhatIsMissing) {
  EXPECT_EQ(refusal_to_reach({"PMI_RANK=1", "PMI_SIZE=4"}),
            "PMI says rank 1 of 4, and not where rank 0 is: set MASTER_ADDR to the name or the "
            "address of its host, the same for all");
  EXPECT_THAT(refusal_to_reach({"PMIX_RANK=1", "PMIX_NAMESPACE=j", "MASTER_ADDR=a"}),
              HasSubstr("set ROTA_WORLD to the number of ranks"));
  EXPECT_THAT(refusal_to_reach({"PMI_RANK=1", "PMI_SIZE=4", "MASTER_ADDR=a", "MASTER_PORT=x"}),
              HasSubstr("MASTER_PORT"));
  EXPECT_EQ(refusal_to_reach(kTorchrun, {.rank_count = 1}),
            "--np is 1, and torchrun says " +
                cluster::to_text(cluster::read(given_by(kTorchrun)).chosen) +
                ": leave out the one that is wrong");
  EXPECT_EQ(refusal_to_reach(kTorchrun, {.rank_count = 4}), "it is host 2");
  EXPECT_THAT(refusal_to_reach(kTorchrun, {.transport = base::find_transport("shm")}),
              HasSubstr("--transport shm is for one host"));
}

TEST(OneSlotEach, LeavesAWorldOfOneAlone) {
  EXPECT_FALSE(reach_of({"PMI_RANK=0", "PMI_SIZE=1"}, {.rank_count = 3}).hosts);
}

// How a share is seated: its local rank, the ranks of its machine, its machine, all machines.
using Seated = std::vector<std::size_t>;

std::vector<Seated> seated(const std::vector<OwnPlace>& places) {
  std::vector<Share> shares;
  for (std::size_t rank = 0; rank < places.size(); ++rank) shares.push_back({.ranks = {rank}});
  seat_on_machines(places, shares);
  std::vector<Seated> all;
  all.reserve(shares.size());
  for (const Share& share : shares) {
    all.push_back({share.earlier_count, share.ranks.size() + share.other_count, share.host_index,
                   share.host_count});
  }
  return all;
}

TEST(OneSlotEach, OnMachinesAreCountedByName) {
  EXPECT_EQ(seated({{"a"}, {"a"}, {"b"}, {"a"}}),
            (std::vector<Seated>{{0, 3, 0, 2}, {1, 3, 0, 2}, {0, 1, 1, 2}, {2, 3, 0, 2}}));
}

// Containers of one machine may have names of their own.
TEST(OneSlotEach, OnMachinesAreAsTheyWereTold) {
  EXPECT_EQ(seated({{"a", 0, 2}, {"b", 1, 2}}), (std::vector<Seated>{{0, 2, 0, 2}, {1, 2, 1, 2}}));
  EXPECT_EQ(seated({{"a", 3, std::nullopt}, {"b"}}),
            (std::vector<Seated>{{3, 4, 0, 2}, {0, 1, 1, 2}}));
}

}  // namespace
}  // namespace rota::launcher
