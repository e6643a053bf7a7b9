// Tests which full names the resolver asks for, given the name that a person wrote.
#include "names/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::names {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the resolv.conf of a pod in the namespace ml. The domain of the node comes last.
ResolvConf in_kubernetes() {
  return parse_resolv_conf(
      "search ml.svc.cluster.local svc.cluster.local cluster.local lan.example\n"
      "nameserver 10.96.0.10\noptions ndots:5\n",
      "mnist-0");
}

ResolvConf on_a_host(const std::string& text) { return parse_resolv_conf(text, "here"); }

TEST(CompletionInKubernetes, KeepsPodsInTheCluster) {
  EXPECT_THAT(complete("b", in_kubernetes()),
              ElementsAre("b.ml.svc.cluster.local.", "b.svc.cluster.local."));
  EXPECT_THAT(complete("b-node-0-0.b", in_kubernetes()),
              ElementsAre("b-node-0-0.b.ml.svc.cluster.local.", "b-node-0-0.b.svc.cluster.local."));
  EXPECT_THAT(
      complete("mnist-0.mnist.ml", in_kubernetes()),
      ElementsAre("mnist-0.mnist.ml.ml.svc.cluster.local.", "mnist-0.mnist.ml.svc.cluster.local."));
}

TEST(CompletionInKubernetes, PutsTheZoneBehindServices) {
  EXPECT_THAT(complete("x.ns.svc", in_kubernetes()), ElementsAre("x.ns.svc.cluster.local."));
  EXPECT_THAT(complete("job-worker-1.ns.svc", in_kubernetes()),
              ElementsAre("job-worker-1.ns.svc.cluster.local."));
  EXPECT_THAT(complete("mnist-0.mnist.ns.SVC", in_kubernetes()),
              ElementsAre("mnist-0.mnist.ns.SVC.cluster.local."));
}

// These names are complete. Whatever ndots is, the resolver asks for them as they stand, and leaves
// out five questions that no server can answer.
TEST(CompletionInKubernetes, AsksForWholeNamesAsTheyStand) {
  EXPECT_THAT(complete("x.ns.svc.cluster.local", in_kubernetes()),
              ElementsAre("x.ns.svc.cluster.local."));
  EXPECT_THAT(complete("gpu-7.example.com.", in_kubernetes()), ElementsAre("gpu-7.example.com."));
}

TEST(CompletionInKubernetes, LetsLongerNamesOut) {
  EXPECT_THAT(complete("gpu-7.rack.example.com", in_kubernetes()),
              ElementsAre("gpu-7.rack.example.com.", "gpu-7.rack.example.com.ml.svc.cluster.local.",
                          "gpu-7.rack.example.com.svc.cluster.local."));
}

// A cluster's zone need not be cluster.local.
TEST(CompletionInKubernetes, FindsTheZoneInTheSearchList) {
  EXPECT_EQ(cluster_zone({"lan.example", "ml.svc.c7.example.org"}), "c7.example.org");
  EXPECT_EQ(cluster_zone({"ml.SVC.zone"}), "zone");
  EXPECT_EQ(cluster_zone({"svc.cluster.local", "cluster.local", "a.b.svc.c", ""}), std::nullopt);
  EXPECT_EQ(cluster_zone({"ml.svc."}), std::nullopt);
}

TEST(Completion, TriesShortNamesInTheDomainsFirst) {
  const ResolvConf conf = on_a_host("search one.example two.example\n");
  EXPECT_THAT(complete("a", conf), ElementsAre("a.one.example.", "a.two.example.", "a."));
  EXPECT_THAT(complete("a.b", conf), ElementsAre("a.b.", "a.b.one.example.", "a.b.two.example."));
  EXPECT_THAT(complete("a.b.", conf), ElementsAre("a.b."));
}

TEST(Completion, CountsDots) {
  const ResolvConf conf = on_a_host("search x\noptions ndots:2\n");
  EXPECT_THAT(complete("a.b", conf), ElementsAre("a.b.x.", "a.b."));
  EXPECT_THAT(complete("a.b.c", conf), ElementsAre("a.b.c.", "a.b.c.x."));
  EXPECT_THAT(complete("a", on_a_host("search x\noptions ndots:0\n")), ElementsAre("a.", "a.x."));
}

TEST(Completion, AsksForNothingTwice) {
  EXPECT_THAT(complete("a", on_a_host("search x X .\n")), ElementsAre("a.x.", "a."));
  EXPECT_THAT(complete("a.b", on_a_host("")), ElementsAre("a.b."));
}

// If names were cut at the first dot, these two hosts would have the same name.
TEST(Completion, CutsNoName) {
  const ResolvConf conf = on_a_host("search x\n");
  EXPECT_THAT(complete("a.1.foo", conf), ElementsAre("a.1.foo.", "a.1.foo.x."));
  EXPECT_THAT(complete("a.2.foo", conf), ElementsAre("a.2.foo.", "a.2.foo.x."));
}

TEST(Completion, RefusesWhatIsNoName) {
  const ResolvConf conf = on_a_host("search x\n");
  for (const std::string& text :
       {std::string(), std::string("."), std::string("a..b"), std::string(".a"), std::string("a.."),
        std::string("a b"), std::string("a\\b"), std::string(64, 'a')}) {
    EXPECT_THAT(complete(text, conf), IsEmpty()) << text;
  }
}

// A name may have 253 bytes. With the domain, this name would be too long.
TEST(Completion, LeavesOutWhatIsTooLong) {
  std::string name(60, 'a');
  while (name.size() < 252)
    name += "." + std::string(std::min<std::size_t>(60, 251 - name.size()), 'a');
  ASSERT_EQ(name.size(), 252U);
  EXPECT_THAT(complete(name, on_a_host("search x\n")), ElementsAre(name + "."));
}

}  // namespace
}  // namespace rota::names
