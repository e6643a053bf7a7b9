// Tests the reading of correct and malformed resolv.conf files.
#include "names/resolv_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::names {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> servers_of(const ResolvConf& conf) {
  std::vector<std::string> servers;
  for (const os::Address& server : conf.servers) servers.push_back(server.to_text());
  return servers;
}

TEST(ResolvConf, IsReadAsAPodHasIt) {
  const ResolvConf conf = parse_resolv_conf(
      "search ml.svc.cluster.local svc.cluster.local cluster.local\n"
      "nameserver 10.96.0.10\n"
      "options ndots:5 use-vc\n",
      "mnist-0");
  EXPECT_THAT(servers_of(conf), ElementsAre("10.96.0.10:53"));
  EXPECT_THAT(conf.search,
              ElementsAre("ml.svc.cluster.local", "svc.cluster.local", "cluster.local"));
  EXPECT_EQ(conf.ndots, 5U);
  EXPECT_TRUE(conf.by_stream);
}

TEST(ResolvConf, ThatSaysNothingMeansThisHost) {
  const ResolvConf conf = parse_resolv_conf("", "here");
  EXPECT_THAT(servers_of(conf), ElementsAre("127.0.0.1:53"));
  EXPECT_THAT(conf.search, IsEmpty());
  EXPECT_EQ(conf.ndots, 1U);
  EXPECT_FALSE(conf.by_stream);
}

TEST(ResolvConf, HasTheHostsDomainWhereItNamesNone) {
  EXPECT_THAT(parse_resolv_conf("", "a.b.example").search, ElementsAre("b.example"));
  EXPECT_THAT(parse_resolv_conf("", "a.").search, IsEmpty());
  EXPECT_THAT(parse_resolv_conf("search x\n", "a.b.example").search, ElementsAre("x"));
}

TEST(ResolvConf, HasServersOfBothFamilies) {
  const ResolvConf conf = parse_resolv_conf(
      "nameserver fd00::a\nnameserver 10.0.0.1 # the other\nnameserver 10.0.0.2\r\n"
      "nameserver 10.0.0.3\n",
      "");
  EXPECT_THAT(servers_of(conf), ElementsAre("[fd00::a]:53", "10.0.0.1:53", "10.0.0.2:53"));
}

TEST(ResolvConf, CountsWhatWasSaidLast) {
  EXPECT_THAT(parse_resolv_conf("domain a\nsearch b c\n", "").search, ElementsAre("b", "c"));
  EXPECT_THAT(parse_resolv_conf("search b c\ndomain a. d\n", "").search, ElementsAre("a"));
  EXPECT_EQ(parse_resolv_conf("options ndots:2\noptions ndots:3\n", "").ndots, 3U);
}

TEST(ResolvConf, PassesOverWhatMakesNoSense) {
  const ResolvConf conf = parse_resolv_conf(
      "# nameserver 10.0.0.1\n; nameserver 10.0.0.2\n nameserver 10.0.0.3\n"
      "nameserver\nnameserver nobody\nnameserver 10.0.0.300\nsearch\nnonsense a b\n"
      "options ndots:x ndots: ndots:-1 ndots:3x debug\nsearch a ; b\n",
      "");
  EXPECT_THAT(servers_of(conf), ElementsAre("127.0.0.1:53"));
  EXPECT_THAT(conf.search, ElementsAre("a"));
  EXPECT_EQ(conf.ndots, 1U);
}

TEST(ResolvConf, HasLimits) {
  std::string text = "options ndots:99999999999999999999999\nsearch";
  for (int i = 0; i < 100; ++i) text += " d" + std::to_string(i);
  const ResolvConf conf = parse_resolv_conf(text, "");
  EXPECT_EQ(conf.ndots, kMaxDots);
  EXPECT_EQ(conf.search.size(), kMaxDomains);
  EXPECT_EQ(conf.search.back(), "d31");
}

}  // namespace
}  // namespace rota::names
