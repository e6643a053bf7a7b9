// Tests the environment of a rank: it has the ROTA_* variables and the variables of other
// frameworks, and nothing from another launcher.
#include "launcher/ranks/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "launcher/plan/devices.h"
#include "launcher/ranks/provision.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using VariableMap = std::map<std::string, std::string>;

// Returns the variables. Expects that each name occurs once.
VariableMap variables_of(const std::vector<std::string>& environment) {
  VariableMap variables;
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    EXPECT_TRUE(variables.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second)
        << entry;
  }
  return variables;
}

// Returns a layout of seven ranks: three, one and three on the hosts.
Layout uneven_layout() { return lay_out({{"a", 3}, {"b", 1}, {"c", 3}}, {}); }

Peers peers_of(const Layout& layout) {
  return describe_peers(
      layout, {{"a", {7955, 7954, 7953, 7952}}, {"fd00::b", {7955}}, {"c", {7954, 7950, 7902}}});
}

RankContract rank_of_several_hosts() {
  const Layout layout = uneven_layout();
  Provision provision;
  provision.devices = {"0", "GPU-1", "2"};
  provision.thread_count = 5;
  RankContract contract = contract_of(assignment_of(layout, 2, std::vector<Group>(1), "tcp"), 1,
                                      peers_of(layout), provision);
  contract.ports = "7800-7899";
  contract.rendezvous_fd = 9;
  contract.terminal_columns = 80;
  return contract;
}

TEST(RankEnvironment, TellsARankOfSeveralHostsItsPlace) {
  const VariableMap found = variables_of(make_environment({}, {}, rank_of_several_hosts()));
  const VariableMap expected = {
      {"ROTA_RANK", "5"},
      {"ROTA_WORLD_SIZE", "7"},
      {"ROTA_LOCAL_RANK", "1"},
      {"ROTA_LOCAL_WORLD_SIZE", "3"},
      {"ROTA_RENDEZVOUS_FD", "9"},
      {"ROTA_PORTS", "7800-7899"},
      {"ROTA_TERMINAL", "80"},
      {"RANK", "5"},
      {"WORLD_SIZE", "7"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "3"},
      {"GROUP_RANK", "2"},
      {"GROUP_WORLD_SIZE", "3"},
      {"MASTER_ADDR", "a"},
      {"MASTER_PORT", "7952"},
      {"OMPI_COMM_WORLD_RANK", "5"},
      {"OMPI_COMM_WORLD_SIZE", "7"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
      {"OMPI_COMM_WORLD_NODE_RANK", "1"},
      {"OMPI_UNIVERSE_SIZE", "7"},
      {"OMP_NUM_THREADS", "5"},
      {"CUDA_VISIBLE_DEVICES", "GPU-1"},
      {"TF_CONFIG",
       R"({"cluster":{"worker":["a:7955","a:7954","a:7953","[fd00::b]:7955","c:7954","c:7950",)"
       R"("c:7902"]},"task":{"type":"worker","index":5}})"},
  };
  EXPECT_EQ(found, expected);
}

TEST(RankEnvironment, HasNothingOfAnotherLauncher) {
  const std::vector<std::string> base = {"PMIX_RANK=3",
                                         "PMIX_NAMESPACE=x",
                                         "PMIX_MCA_gds=hash",
                                         "PMI_FD=5",
                                         "OMPI_COMM_WORLD_RANK=3",
                                         "OMPI_COMM_WORLD_ELSE=3",
                                         "OMPI_MCA_orte_hnp_uri=x",
                                         "OMPI_MCA_ess=^singleton",
                                         "OMPI_MCA_btl=self",
                                         "SLURM_PROCID=3",
                                         "SLURM_STEP_ID=0",
                                         "SLURM_JOB_ID=77",
                                         "TORCHELASTIC_USE_AGENT_STORE=True",
                                         "TF_CONFIG={}",
                                         "MASTER_ADDR=elsewhere",
                                         "MASTER_PORT=1",
                                         "RANK=3",
                                         "ROTA_TERMINAL=80",
                                         "HOME=/root"};
  const VariableMap found = variables_of(make_environment(base, {}, {}));
  for (const char* gone :
       {"PMIX_RANK", "PMIX_NAMESPACE", "PMI_FD", "OMPI_COMM_WORLD_ELSE", "OMPI_MCA_orte_hnp_uri",
        "OMPI_MCA_ess", "SLURM_PROCID", "SLURM_STEP_ID", "TORCHELASTIC_USE_AGENT_STORE",
        "TF_CONFIG", "MASTER_ADDR", "MASTER_PORT", "ROTA_TERMINAL"}) {
    EXPECT_FALSE(found.contains(gone)) << gone;
  }
  EXPECT_EQ(found.at("RANK"), "0");
  EXPECT_EQ(found.at("OMPI_COMM_WORLD_RANK"), "0");
  EXPECT_EQ(found.at("PMIX_MCA_gds"), "hash");
  EXPECT_EQ(found.at("OMPI_MCA_btl"), "self");
  EXPECT_EQ(found.at("SLURM_JOB_ID"), "77");
  EXPECT_EQ(found.at("HOME"), "/root");
}

// Another launcher made an MPI world. Only the rank that the other launcher itself started can find
// that world.
TEST(RankEnvironment, KeepsWhatMpiNeedsOfTheRankThatItStarted) {
  const std::vector<std::string> base = {"PMIX_RANK=1",
                                         "PMIX_NAMESPACE=x",
                                         "OMPI_COMM_WORLD_RANK=1",
                                         "OMPI_COMM_WORLD_SIZE=3",
                                         "OMPI_MCA_orte_hnp_uri=x",
                                         "PMI_RANK=1",
                                         "PMI_SIZE=3",
                                         "PMI_FD=5",
                                         "SLURM_STEP_ID=0",
                                         "TORCHELASTIC_USE_AGENT_STORE=True"};
  const auto keeps = [&](const RankContract& contract) {
    const VariableMap found = variables_of(make_environment(base, {}, contract));
    EXPECT_FALSE(found.contains("TORCHELASTIC_USE_AGENT_STORE"));
    for (const char* name :
         {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "PMI_FD", "SLURM_STEP_ID"}) {
      EXPECT_EQ(found.contains(name), found.contains("PMIX_RANK")) << name;
    }
    return found.contains("PMIX_RANK");
  };
  EXPECT_TRUE(keeps({.rank = 1, .world_size = 3, .is_only_one = true}));
  EXPECT_FALSE(keeps({.rank = 1, .world_size = 3, .is_only_one = false}));
  EXPECT_FALSE(keeps({.rank = 0, .world_size = 3, .is_only_one = true}));
  EXPECT_FALSE(keeps({.rank = 1, .world_size = 4, .is_only_one = true}));
}

// A rank with an MPI server of rotarun has its world from that server.
TEST(RankEnvironment, HasWhatTheMpiServerGives) {
  const std::vector<std::string> base = {"PMI_RANK=1", "PMI_SIZE=3", "PMI_FD=5", "PMIX_RANK=1"};
  const RankContract contract{.rank = 1,
                              .world_size = 3,
                              .is_only_one = true,
                              .mpi_variables = {"PMI_FD=9", "PMI_RANK=0", "OTHER=a=b"}};
  const VariableMap found = variables_of(make_environment(base, {{"PMI_RANK", "7"}}, contract));
  EXPECT_EQ(found.at("PMI_FD"), "9");
  EXPECT_EQ(found.at("PMI_RANK"), "7") << "-x takes precedence";
  EXPECT_EQ(found.at("OTHER"), "a=b");
  EXPECT_FALSE(found.contains("PMI_SIZE"));
  EXPECT_FALSE(found.contains("PMIX_RANK"));
}

TEST(RankEnvironment, IsAsThePersonSays) {
  const std::vector<std::string> base = {"OMP_NUM_THREADS=3", "MASTER_PORT=1", "SLURM_PROCID=2"};
  const std::vector<Variable> variables = {
      {"MASTER_ADDR", "mine"}, {"MASTER_PORT", std::nullopt},   {"SLURM_PROCID", std::nullopt},
      {"RANK", std::nullopt},  {"CUDA_VISIBLE_DEVICES", "0,1"}, {"ROTA_RANK", "77"}};
  const VariableMap found =
      variables_of(make_environment(base, variables, rank_of_several_hosts()));
  EXPECT_EQ(found.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(found.at("MASTER_ADDR"), "mine");
  EXPECT_EQ(found.at("MASTER_PORT"), "1");
  EXPECT_EQ(found.at("SLURM_PROCID"), "2");
  EXPECT_FALSE(found.contains("RANK"));  // -x passes RANK on, but RANK is not set.
  EXPECT_EQ(found.at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(found.at("ROTA_RANK"), "5");  // -x cannot change what rotarun sets here.
}

TEST(RankEnvironment, LeavesDevicesAndTerminalAloneWhereThereAreNone) {
  const VariableMap found = variables_of(make_environment({"CUDA_VISIBLE_DEVICES=2,3"}, {}, {}));
  EXPECT_EQ(found.at("CUDA_VISIBLE_DEVICES"), "2,3");
  EXPECT_FALSE(found.contains("ROTA_TERMINAL"));
  EXPECT_EQ(found.at("OMP_NUM_THREADS"), "1");
}

TEST(RankEnvironment, SaysThatRanksShareDevices) {
  const RankContract contract{.shares_devices = true};
  const VariableMap found = variables_of(make_environment({}, {}, contract));
  EXPECT_EQ(found.at("ROTA_SHARE_DEVICES"), "1");
  EXPECT_FALSE(variables_of(make_environment({}, {}, {})).contains("ROTA_SHARE_DEVICES"));
}

TEST(RankEnvironment, HasTheContractInPlaceOfWhatWasThere) {
  const auto environment =
      make_environment({"PATH=/bin", "ROTA_RANK=9", "ROTA_TERMINAL=70", "A=old", "AB=kept"},
                       {{"A", "new"}, {"B", std::nullopt}, {"ROTA_WORLD_SIZE", "77"}},
                       {.rank = 2,
                        .world_size = 4,
                        .local_rank = 2,
                        .local_world_size = 4,
                        .rendezvous_fd = 13,
                        .terminal_columns = {}});
  EXPECT_THAT(environment, Contains("PATH=/bin"));
  EXPECT_THAT(environment, Contains("AB=kept"));
  EXPECT_THAT(environment, Contains("A=new"));
  EXPECT_THAT(environment, Not(Contains("A=old")));
  for (const char* entry : {"ROTA_RANK=2", "ROTA_WORLD_SIZE=4", "ROTA_LOCAL_RANK=2",
                            "ROTA_LOCAL_WORLD_SIZE=4", "ROTA_RENDEZVOUS_FD=13"}) {
    EXPECT_THAT(environment, Contains(entry));
  }
  EXPECT_THAT(environment, Not(Contains(StartsWith("ROTA_TERMINAL"))));
  EXPECT_THAT(environment, Not(Contains("ROTA_RANK=9")));
}

TEST(RankEnvironment, HasTheTerminalsWidthWhereThereIsOne) {
  EXPECT_THAT(make_environment({}, {}, {.terminal_columns = 132}), Contains("ROTA_TERMINAL=132"));
}

TEST(RankEnvironment, KnowsWhichPassedOnVariablesAreNotSet) {
  const std::vector<Variable> variables = {{"A", std::nullopt}, {"B", std::nullopt}, {"C", "3"}};
  EXPECT_THAT(unset_variables({"A=1", "BB=2"}, variables), ElementsAre("B"));
}

TEST(RankEnvironment, FollowsTheOrderOfTheRanks) {
  const Layout layout =
      lay_out({{"a", 3}, {"b", 1}, {"c", 2}}, {.rank_count = 6, .rank_by = RankBy::kNode});
  const Peers peers = describe_peers(layout, {{"a", {1, 2, 3, 7}}, {"b", {4}}, {"c", {5, 6}}});
  const auto value = nlohmann::json::parse(tf_config(peers, 4));
  EXPECT_EQ(value["cluster"]["worker"], nlohmann::json({"a:1", "b:4", "c:5", "a:2", "c:6", "a:3"}));
  const RankContract contract =
      contract_of(assignment_of(layout, 2, std::vector<Group>(1), "tcp"), 1, peers, {});
  EXPECT_EQ(contract.host_index, 2U);
  EXPECT_EQ(contract.local_rank, 1U);
  EXPECT_EQ(contract.local_world_size, 2U);
  EXPECT_EQ(contract.device, "");
}

TEST(Peers, AreJsonWhateverTheirNames) {
  const Layout layout = lay_out({{"a", 1}, {"b", 1}, {"c", 1}}, {});
  const Peers peers =
      describe_peers(layout, {{"fd00::1", {1, 4}}, {"odd\"name\\", {2}}, {"\xff", {3}}});
  const auto value = nlohmann::json::parse(tf_config(peers, 2));
  EXPECT_EQ(value["cluster"]["worker"][0], "[fd00::1]:1");
  EXPECT_EQ(value["cluster"]["worker"][1], "odd\"name\\:2");
  EXPECT_EQ(value["task"]["type"], "worker");
  EXPECT_EQ(value["task"]["index"], 2);
  EXPECT_EQ(peers.first->host, "fd00::1");  // MASTER_ADDR has no brackets.
}

TEST(Peers, AreToldWhereAllHavePorts) {
  const Layout layout = lay_out({{"a", 2}, {"b", 1}}, {});
  const Peers without_the_last = describe_peers(layout, {{"a", {1, 2}}, {"b", {}}});
  EXPECT_THAT(tf_config(without_the_last, 0), IsEmpty());
  EXPECT_EQ(without_the_last.first->port, 1);
  const Peers without_the_first = describe_peers(layout, {{"a", {}}, {"b", {1}}});
  EXPECT_THAT(tf_config(without_the_first, 0), IsEmpty());
  EXPECT_FALSE(without_the_first.first);
}

// If there are only as many ports as ranks, rank 0 would have one port for two purposes: for
// MASTER_PORT and for TF_CONFIG.
TEST(Peers, AreNotListedWhereTheListWouldHaveTheirMeeting) {
  const Layout layout = lay_out({{"a", 3}, {"b", 1}}, {});
  const Peers peers = describe_peers(layout, {{"a", {1, 2, 3}}, {"b", {4}}});
  EXPECT_EQ(peers.first->port, 1);
  EXPECT_THAT(tf_config(peers, 0), IsEmpty());
}

// A program may listen both at its port in the list and at MASTER_PORT.
TEST(Peers, MeetAtAPortThatIsInNoList) {
  const Layout layout = lay_out({{"a", 2}, {"b", 1}}, {});
  const Peers peers = describe_peers(layout, {{"a", {1, 2, 3}}, {"b", {4, 5}}});
  EXPECT_EQ(peers.first->port, 3);
  const auto value = nlohmann::json::parse(tf_config(peers, 0));
  EXPECT_EQ(value["cluster"]["worker"], nlohmann::json({"a:1", "a:2", "b:4"}));
}

// Launchers of other jobs meet at the first ports.
TEST(Peers, HaveTheLastPortsOfTheRange) {
  const testing::OwnPorts own;
  const ClaimedPorts claimed =
      claim_ports({.first = own.number_of_port(0), .last = own.number_of_port(99)}, 3);
  ASSERT_EQ(claimed.ports.size(), 3U);
  for (const std::uint16_t port : claimed.ports) EXPECT_GT(port, own.number_of_port(50));
  EXPECT_NE(claimed.ports[0], claimed.ports[1]);
}

// The first port is never handed out: launchers of this job or another one meet there.
TEST(Peers, NeverHaveTheFirstPortOfTheRange) {
  const testing::OwnPorts own;
  const std::uint16_t first = own.number_of_port(0);
  const ClaimedPorts claimed = claim_ports({.first = first, .last = own.number_of_port(3)}, 4);
  EXPECT_THAT(claimed.ports,
              ElementsAre(own.number_of_port(3), own.number_of_port(2), own.number_of_port(1)));
  EXPECT_THAT(claim_ports({.first = first, .last = first}, 1).ports, IsEmpty());
}

TEST(Peers, AreToldWhereAVariableHoldsThem) {
  const Layout layout = lay_out({{"a", 4096}}, {});
  const auto config_of = [&](const std::string& name) {
    const std::vector<std::uint16_t> ports(4097, 65535);
    return tf_config(describe_peers(layout, {{name, ports}}), 4095);
  };
  EXPECT_THAT(config_of("127.0.0.1"), Not(IsEmpty()));
  EXPECT_LT(config_of("127.0.0.1").size(), 128U * 1024 - std::string("TF_CONFIG=").size());
  EXPECT_THAT(config_of(std::string(60, 'h')), IsEmpty());
}

TEST(Devices, AreReadAsCudaReadsThem) {
  EXPECT_THAT(parse_devices("0,2, 5"), ElementsAre("0", "2", "5"));
  EXPECT_THAT(parse_devices("GPU-8932f937,MIG-1/2/3"), ElementsAre("GPU-8932f937", "MIG-1/2/3"));
  EXPECT_THAT(parse_devices("0,-1,2"), ElementsAre("0"));
  for (const char* none : {"", " ", "-1", "NoDevFiles", ",0"}) {
    EXPECT_THAT(parse_devices(none), IsEmpty()) << none;
  }
}

TEST(Devices, AreCountedByTheirFiles) {
  const std::string folder = ::testing::TempDir() + "rota_devices_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  for (const char* name : {"nvidia3", "nvidia10", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    std::ofstream(folder + "/" + name) << "";
  }
  EXPECT_THAT(find_devices(folder), ElementsAre("0", "1"));
  std::filesystem::remove_all(folder);
  EXPECT_THAT(find_devices(folder), IsEmpty());
}

TEST(Devices, AreOneForEachRankOrNobodys) {
  EXPECT_THAT(deal_devices({"3", "5", "7"}, 2), ElementsAre("3", "5"));
  EXPECT_THAT(deal_devices({"3", "5"}, 2), ElementsAre("3", "5"));
  EXPECT_THAT(deal_devices({"3", "5"}, 3), IsEmpty());
  EXPECT_THAT(deal_devices({}, 1), IsEmpty());
}

TEST(MpiView, IsThatOfTheLauncherWhichWaitsForTheRank) {
  for (const char* variable : {"PMIX_RANK=0", "PMI_RANK=0"}) {
    const std::vector<std::string> expected = {variable};
    EXPECT_EQ(mpi_view_of(1, 4, expected), MpiView::kWorld) << variable;
    EXPECT_EQ(mpi_view_of(2, 4, expected), MpiView::kNothing) << variable;
    EXPECT_EQ(mpi_view_of(0, 4, expected), MpiView::kNothing) << variable;
  }
  EXPECT_EQ(mpi_view_of(1, 4, {"PMI_RANK=0", "PMI_SIZE=4"}), MpiView::kWorld);
  EXPECT_EQ(mpi_view_of(1, 4, {"PMI_RANK=0", "PMI_SIZE=1"}), MpiView::kNothing);
  EXPECT_EQ(mpi_view_of(1, 4, {"PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE=1"}), MpiView::kNothing);
}

TEST(MpiView, IsOfOneRankWhereThereIsOnlyOne) {
  const std::vector<std::string> nobody = {"PATH=/bin"};
  EXPECT_EQ(mpi_view_of(1, 4, nobody), MpiView::kNothing);
  EXPECT_EQ(mpi_view_of(1, 1, nobody), MpiView::kAlone);
  EXPECT_EQ(mpi_view_of(0, 1, nobody), MpiView::kAlone) << "the only rank is on another host";
}

}  // namespace
}  // namespace rota::launcher
