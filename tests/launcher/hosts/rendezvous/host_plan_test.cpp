// Each host derives from its options and its environment where the hosts meet, and what they must
// agree on.
#include "launcher/hosts/rendezvous/host_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/reading.h"
#include "launcher/plan/job_scope.h"

namespace rota::launcher {
namespace {

using ::testing::HasSubstr;

using Variables = std::vector<std::string>;

// Returns what a host of that name reads from these variables.
cluster::Specification told(const Variables& variables, const std::string& host_name) {
  return cluster::read({.environment = cluster::Environment(variables), .host_name = host_name})
      .chosen;
}

std::string tf_config(const std::string& workers, int index) {
  return R"(TF_CONFIG={"cluster":{"worker":[)" + workers +
         R"(]},"task":{"type":"worker","index":)" + std::to_string(index) + "}}";
}

std::string refusal_of(const cluster::Specification& cluster) {
  try {
    return "meets at " + plan_hosts(cluster, {}).leader;
  } catch (const SpecificationError& error) {
    return error.what();
  }
}

TEST(HostPlan, IsAtThePortOfHostZero) {
  const std::string workers = R"("a:2222","b:2223","c:2224")";
  const HostPlan host_plan = plan_hosts(told({tf_config(workers, 2)}, "pod"), {});
  EXPECT_EQ(host_plan.leader, "a:2222");
  EXPECT_EQ(host_plan.host_count, 3U);
  EXPECT_EQ(host_plan.own_host, 2U);
  EXPECT_FALSE(host_plan.is_on_loopback);
}

TEST(HostPlan, IsAtTheFirstOfOurPortsWhereNoPortIsDeclared) {
  const cluster::Specification cluster = told({"ROTA_HOSTS=a:2,b:2"}, "b");
  EXPECT_EQ(plan_hosts(cluster, {}).leader, "a:7700");
  Options options;
  options.ports = {9000, 9010};
  EXPECT_EQ(plan_hosts(cluster, options).leader, "a:9000");
}

TEST(HostPlan, PutsAnIpv6AddressInBrackets) {
  EXPECT_EQ(
      plan_hosts(told({tf_config(R"("[fd00::1]:2222","[fd00::2]:2222")", 1)}, "x"), {}).leader,
      "[fd00::1]:2222");
  cluster::Specification cluster = told({"ROTA_HOSTS=a,b"}, "b");
  cluster.rendezvous = cluster::RendezvousEndpoint{.name = "fd00::1"};
  EXPECT_EQ(plan_hosts(cluster, {}).leader, "[fd00::1]:7700");
}

TEST(HostPlan, KnowsWhetherItIsOnLoopback) {
  for (const std::string host : {"localhost", "127.0.0.1", "[::1]"}) {
    std::string workers = '"' + host + R"(:2222",")" + host + R"(:2223")";
    EXPECT_TRUE(plan_hosts(told({tf_config(workers, 1)}, "x"), {}).is_on_loopback) << host;
  }
}

TEST(HostPlan, IsNotPlannedByAHostThatIsNoneOfThem) {
  EXPECT_EQ(
      refusal_of(told({"ROTA_HOSTS=a,b"}, "z")),
      "ROTA_HOSTS says 2 hosts (a, b), rendezvous at a, but neither this host's name nor one of "
      "its addresses is in the list: set ROTA_HOST to its name in the list");
}

TEST(HostPlan, IsNotPlannedWhereHostZeroIsUnknown) {
  const Variables variables = {"PET_NNODES=3", "PET_NODE_RANK=1"};
  EXPECT_EQ(refusal_of(told(variables, "pod-1")),
            "Kubeflow Trainer says host 1 (pod-1) of 3, but not where host 0 is: name the hosts, "
            "or set ROTA_SERVICE to the name of their Service");
  cluster::Specification nameless = told(variables, "pod-1");
  nameless.rendezvous = cluster::RendezvousEndpoint{.name = "", .port = 2222};
  EXPECT_THAT(refusal_of(nameless), HasSubstr("but not where host 0 is"));
}

TEST(HostPlan, IsOfTheJobThatIsNamedOrElseOfThePlace) {
  cluster::Specification cluster = told({"ROTA_HOSTS=a:2,b:2"}, "a");
  const HostPlan unnamed = plan_hosts(cluster, {});
  EXPECT_EQ(unnamed.job_id, "at a:7700");
  cluster.job_id = "4711";
  const HostPlan named = plan_hosts(cluster, {});
  EXPECT_EQ(named.job_id, "4711");
  EXPECT_EQ(named.cluster_text, unnamed.cluster_text);
  EXPECT_EQ(to_bytes("4711"), to_bytes(named.job_id));
  EXPECT_NE(to_bytes("4711"), to_bytes(unnamed.job_id));
  EXPECT_NE(to_bytes("4711"), to_bytes("4712"));
}

// Each host may have a list of its own. The names are resolved as each list has them.
TEST(HostPlan, IsOneInEachSpellingOfTheNames) {
  const HostPlan one = plan_hosts(told({"ROTA_HOSTS=Node1.:2,node2:2"}, "node2"), {});
  const HostPlan other = plan_hosts(told({"ROTA_HOSTS=node1:2,NODE2.:2"}, "node1"), {});
  EXPECT_EQ(one.leader, "Node1.:7700");
  EXPECT_EQ(other.leader, "node1:7700");
  EXPECT_EQ(one.own_host, 1U);
  EXPECT_EQ(other.own_host, 0U);
  EXPECT_EQ(one.job_id, other.job_id);
  EXPECT_EQ(one.cluster_text, other.cluster_text);
}

TEST(HostPlan, NamesHostsByNumberAndName) {
  const HostPlan host_plan = plan_hosts(told({tf_config(R"("a:2222","b:2223")", 0)}, "x"), {});
  EXPECT_EQ(name_of_host(host_plan, 1), "host 1 (b:2223)");
  EXPECT_EQ(name_of_host(host_plan, 7), "host 7");
}

// A cluster: the environment variables of each host, and the name of each host.
struct Cluster {
  std::string name;
  std::vector<Variables> variables;
  std::vector<std::string> host_names;
  std::string words;
};

Variables trainer(int count, int index) {
  return {"PET_NNODES=" + std::to_string(count), "PET_NODE_RANK=" + std::to_string(index),
          "PET_MASTER_ADDR=t-0-0.t", "PET_MASTER_PORT=29500"};
}

Variables pytorch_job(int index, const std::string& master = "p-master-0") {
  return {"WORLD_SIZE=2", "RANK=" + std::to_string(index), "MASTER_ADDR=" + master,
          "MASTER_PORT=23456"};
}

std::vector<Cluster> all_clusters() {
  const std::string workers = R"("a:2222","b:2223")";
  const std::string with_chief =
      R"(TF_CONFIG={"cluster":{"chief":["a:2222"],"worker":["b:2222"],"evaluator":["e:2222"]},)";
  const Variables list = {"ROTA_HOSTS=a:2,b:3"};
  return {
      {"TfConfig",
       {{tf_config(workers, 0)}, {tf_config(workers, 1)}},
       {"x", "y"},
       "2 hosts that meet at a:2222: a:2222, b:2223"},
      {"AnEvaluatorBeside",
       {{with_chief + R"("task":{"type":"chief","index":0}})"},
        {with_chief + R"("task":{"type":"worker","index":0}})"},
        {with_chief + R"("task":{"type":"evaluator","index":0}})", "ROTA_SLOTS=2"}},
       {"x", "y", "z"},
       "2 hosts that meet at a:2222: a:2222, b:2222"},
      {"Slots", {list, list}, {"a", "b"}, "2 hosts that meet at a:7700: a with 2, b with 3"},
      {"AWorld",
       {{"ROTA_HOSTS=a,b", "ROTA_WORLD=8"}, {"ROTA_HOSTS=a,b", "ROTA_WORLD=8"}},
       {"a", "b"},
       "2 hosts that meet at a:7700, a world of 8: a, b"},
      {"SlotsThatOneHostAloneKnows",
       {{"ROTA_HOSTS=a:2,b"}, {"ROTA_HOSTS=a:2,b", "ROTA_SLOTS=3"}},
       {"a", "b"},
       "2 hosts that meet at a:7700: a, b"},
      {"ATrainerOfTwo",
       {trainer(2, 0), trainer(2, 1)},
       {"t-0-0", "t-0-1"},
       "2 hosts that meet at t-0-0.t:29500"},
      {"ATrainerOfThree",
       {trainer(3, 0), trainer(3, 1), trainer(3, 2)},
       {"t-0-0", "t-0-1", "t-0-2"},
       "3 hosts that meet at t-0-0.t:29500"},
      {"APyTorchJob",
       {pytorch_job(0), pytorch_job(1)},
       {"p-master-0", "p-worker-0"},
       "2 hosts that meet at p-master-0:23456"},
      {"APyTorchJobWhoseMasterIsToldLocalhost",
       {pytorch_job(0, "localhost"), pytorch_job(1)},
       {"p-master-0", "p-worker-0"},
       "2 hosts that meet at p-master-0:23456"},
  };
}

class MeetingOf : public ::testing::TestWithParam<Cluster> {};

TEST_P(MeetingOf, IsTheSameInTheWordsOfAllHosts) {
  const Cluster& cluster = GetParam();
  for (std::size_t host = 0; host < cluster.variables.size(); ++host) {
    const HostPlan host_plan =
        plan_hosts(told(cluster.variables[host], cluster.host_names[host]), {});
    EXPECT_EQ(host_plan.own_host, host);
    EXPECT_EQ(host_plan.cluster_text, cluster.words) << "on host " << host;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MeetingOf, ::testing::ValuesIn(all_clusters()),
                         [](const auto& test) { return test.param.name; });

// HostPlan::cluster_text differs for any two different clusters.
TEST(HostPlan, IsAnotherInTheWordsOfAnotherCluster) {
  const std::vector<Variables> others = {
      {"ROTA_HOSTS=a:2,b:2"},     {"ROTA_HOSTS=a:2,b:3"},
      {"ROTA_HOSTS=a:2,b:2,c:2"}, {"ROTA_HOSTS=a,b"},
      {"ROTA_HOSTS=a,c,b"},       {"ROTA_HOSTS=a,b,c"},
      {"ROTA_HOSTS=b,a"},         {"ROTA_HOSTS=a,b", "ROTA_WORLD=4"}};
  std::vector<std::string> words;
  for (const Variables& variables : others) {
    const std::string text = plan_hosts(told(variables, "a"), {}).cluster_text;
    EXPECT_THAT(words, ::testing::Not(::testing::Contains(text)));
    words.push_back(text);
  }
}

}  // namespace
}  // namespace rota::launcher
