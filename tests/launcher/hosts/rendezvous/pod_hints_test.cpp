// Tests the hints that a pod's own files give about why pods do not find each other.
#include "launcher/hosts/rendezvous/pod_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kResolvConf =
    "search space.svc.cluster.local svc.cluster.local cluster.local\n"
    "nameserver 10.96.0.10\noptions ndots:5\n";

// Returns the files as a kubelet writes them.
PodFacts pod_with(const std::string& names) {
  return {.hosts =
              "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
              "fe00::0\tip6-localnet\n10.244.1.7\t" +
              names + "\n",
          .resolv_conf = kResolvConf};
}

TEST(NamingTrouble, IsNoneWhereThePodHasTheName) {
  const PodFacts pod = pod_with("mnist-1.mnist.space.svc.cluster.local\tmnist-1");
  EXPECT_THAT(naming_trouble(pod, "mnist-1.mnist"), IsEmpty());
  EXPECT_THAT(naming_trouble(pod, "mnist-1.mnist.space.svc"), IsEmpty());
  EXPECT_THAT(naming_trouble(pod, "mnist-1.mnist.space.svc.cluster.local"), IsEmpty());
}

TEST(NamingTrouble, IsAPodWithoutASubdomain) {
  EXPECT_EQ(naming_trouble(pod_with("mnist-1"), "mnist-1.mnist"),
            "; this pod has no spec.subdomain, so no host finds it as mnist-1.mnist: set "
            "spec.subdomain to "
            "mnist, the name of the headless Service");
}

TEST(NamingTrouble, IsAnotherSubdomain) {
  EXPECT_EQ(
      naming_trouble(pod_with("mnist-1.other.space.svc.cluster.local\tmnist-1"), "mnist-1.mnist"),
      "; this pod's spec.subdomain is other, so no host finds it as mnist-1.mnist: set "
      "spec.subdomain "
      "to mnist, the name of the headless Service");
}

// In a TFJob each replica has a Service with the name of the replica, and the pods have no
// subdomain.
TEST(NamingTrouble, IsNoneWhereTheNameIsAServicesOrUnknown) {
  EXPECT_THAT(naming_trouble(pod_with("mnist-worker-1"), "mnist-worker-1.space.svc"), IsEmpty());
  EXPECT_THAT(naming_trouble(pod_with("mnist-1"), ""), IsEmpty());
  EXPECT_THAT(naming_trouble(pod_with("mnist-1"), "mnist-1"), IsEmpty());
  EXPECT_THAT(naming_trouble(pod_with("mnist-1"), "10.244.1.7"), IsEmpty());
  EXPECT_THAT(naming_trouble({}, "mnist-1.mnist"), IsEmpty());
}

TEST(NamingTrouble, IsTheNodesNameServerOnTheNodesNetwork) {
  PodFacts pod{.hosts = "# Kubernetes-managed hosts file (host network).\n10.0.0.2\tnode1\n",
               .resolv_conf = "nameserver 10.0.0.1\n"};
  EXPECT_THAT(naming_trouble(pod, "mnist-1.mnist"),
              HasSubstr("set spec.dnsPolicy: ClusterFirstWithHostNet"));
  pod.resolv_conf = kResolvConf;
  EXPECT_THAT(naming_trouble(pod, "mnist-1.mnist"), IsEmpty());
}

TEST(AbsenceHint, SaysWhatCannotBeToldFromHere) {
  const PodFacts pod = pod_with("mnist-0.mnist.space.svc.cluster.local\tmnist-0");
  EXPECT_EQ(absence_hint(pod, {"mnist-2.mnist"}),
            "; rotarun cannot see whether its pod is suspended, pending or pulling its image: try "
            "kubectl describe pod mnist-2");
  EXPECT_EQ(absence_hint(pod, {"mnist-2.mnist", "mnist-3.mnist"}),
            "; rotarun cannot see whether their pods are suspended, pending or pulling their "
            "images: try kubectl get pods");
  EXPECT_THAT(absence_hint(pod, {""}), HasSubstr("kubectl get pods"));
  EXPECT_THAT(absence_hint(pod, {}), IsEmpty());
  EXPECT_THAT(absence_hint({}, {"mnist-2.mnist"}), IsEmpty());
}

TEST(RecordHint, NamesTheFieldOfTheServiceOnceAPodHasTakenLong) {
  const PodFacts pod = pod_with("mnist-0");
  EXPECT_EQ(record_hint(pod, seconds(14)),
            "; a name server may give an old answer from its cache for a while");
  EXPECT_THAT(record_hint(pod, seconds(15)), HasSubstr("publishNotReadyAddresses: true"));
  EXPECT_THAT(record_hint({}, seconds(30)), IsEmpty());
}

TEST(PortHint, IsForPodsOnTheNodesNetwork) {
  EXPECT_THAT(port_hint({.hosts = "# Kubernetes-managed hosts file (host network).\n"}),
              HasSubstr("podAntiAffinity"));
  EXPECT_THAT(port_hint(pod_with("mnist-0")), IsEmpty());
  EXPECT_THAT(port_hint({}), IsEmpty());
}

}  // namespace
}  // namespace rota::launcher
