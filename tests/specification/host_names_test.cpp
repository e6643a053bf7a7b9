// Names of hosts are the same in small and capital letters, and with or without a last dot.
#include "cluster/host_names.h"

#include <gtest/gtest.h>

#include "cluster/sources/host_list.h"
#include "specification/given.h"

namespace rota::cluster {
namespace {

TEST(HostNames, AgreeWithoutCaseAndLastDot) {
  EXPECT_TRUE(agree("Node1", "node1"));
  EXPECT_TRUE(agree("node1.", "node1"));
  EXPECT_TRUE(agree("NODE1", "node1.Example.org."));
  EXPECT_TRUE(agree("node1.example.org", "node1."));
  EXPECT_FALSE(agree("node1", "node10"));
  EXPECT_FALSE(agree("node1.a.", "node1.b"));
  EXPECT_FALSE(agree("node1.", "node1x"));
}

TEST(HostNames, MeanTheHostItselfInEachSpelling) {
  for (const char* name :
       {"LocalHost", "localhost.", "LOCALHOST.localdomain", "127.0.0.1", "::1"}) {
    EXPECT_TRUE(is_loopback(name)) << name;
  }
  EXPECT_FALSE(is_loopback("localhosts"));
}

TEST(HostNames, FindThisHostInEachSpelling) {
  const std::vector<Host> hosts = {{.name = "N1"}, {.name = "n2."}, {.name = "FD00::3"}};
  EXPECT_EQ(find_host(hosts, "n1", {}), 0U);
  EXPECT_EQ(find_host(hosts, "N2", {}), 1U);
  EXPECT_EQ(find_host(hosts, "n2.example.", {}), 1U);
  EXPECT_EQ(find_host(hosts, "x", std::vector<std::string>{"fd00::3"}), 2U);
  const std::vector<std::string> own{"10.0.0.4", "fd00::4"};
  for (const char* address : {"10.0.0.4", "fd00::4", "FD00:0:0::4", "fd00:0::0:4"}) {
    EXPECT_EQ(find_host({{.name = "n1"}, {.name = address}}, "x", own), 1U) << address;
  }
  EXPECT_EQ(find_host(hosts, "n3", {}), std::nullopt);
}

// Two spellings are one host with the sum of the slots. The first spelling is resolved.
TEST(HostNames, AreOneHostOfAList) {
  const std::vector<Host> hosts = parse_host_list("--host", "N1.:2,n1:3,n2");
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].name, "N1.");
  EXPECT_EQ(hosts[0].slots, 5U);
}

TEST(HostNames, AreComparedBetweenSources) {
  const auto refusal = [](const std::string& master) {
    return refusal_of(given_of({R"(TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},)"
                                R"("task":{"type":"worker","index":0}})",
                                "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=" + master}));
  };
  EXPECT_TRUE(refusal("A.").starts_with("accepted")) << refusal("A.");
  EXPECT_FALSE(refusal("c").starts_with("accepted"));
}

TEST(HostNames, AreOneTaskInEachSpelling) {
  EXPECT_NE(refusal_of(given_of({R"(TF_CONFIG={"cluster":{"worker":["a:1","A.:1"]},)"
                                 R"("task":{"type":"worker","index":0}})"}))
                .find("TF_CONFIG has 'A.:1' twice: each task needs an address of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace rota::cluster
