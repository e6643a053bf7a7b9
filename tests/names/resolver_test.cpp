// The resolver asks a name server of the test over real sockets.
#include "names/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include <rota/error.h>

#include "os/host.h"
#include "testing/name_server.h"

namespace rota::names {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NameServer;
using ::testing::UnorderedElementsAre;
using Behaviour = NameServer::Behaviour;

constexpr std::string_view kOfAPod =
    "search ml.svc.cluster.local svc.cluster.local cluster.local lan.example\noptions ndots:5\n";

class ResolverTest : public ::testing::Test {
 protected:
  ResolverTest()
      : folder_(::testing::TempDir() + "names_" + std::to_string(os::own_process()) + "_") {
    write("hosts", "127.0.0.1 localhost\n");
    write("resolv.conf", "");
    options_ = {.resolv_conf = folder_ + "resolv.conf",
                .hosts = folder_ + "hosts",
                .servers = {server_.address()}};
  }
  ~ResolverTest() override {
    std::remove((folder_ + "hosts").c_str());
    std::remove((folder_ + "resolv.conf").c_str());
  }

  void write(const std::string& name, std::string_view text) {
    std::ofstream(folder_ + name) << text;
  }

  static std::vector<std::string> texts_of(const Answer& answer) {
    std::vector<std::string> texts;
    for (const os::Address& address : answer.addresses) texts.push_back(address.to_text());
    return texts;
  }

  Answer addresses(const std::string& address) const { return resolve(address, options_); }

  static Answer wait(Resolver& resolver) {
    os::PollSet polls;
    while (true) {
      if (auto answer = resolver.advance()) return std::move(*answer);
      polls.clear();
      resolver.add_to(polls);
      polls.wait(resolver.next_deadline());
    }
  }

  // Returns the names that were asked for, in order, without record types and repetitions.
  std::vector<std::string> names_asked() const {
    std::vector<std::string> names;
    for (const std::string& question : server_.questions()) {
      std::string name = question.substr(question.find(' ') + 1);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return names;
  }

  NameServer server_;
  std::string folder_;
  Options options_;
};

TEST_F(ResolverTest, FindsAddressesOfEitherFamily) {
  server_.add_address("four", "10.0.0.1");
  server_.add_address("six", "fd00::1");
  EXPECT_THAT(texts_of(addresses("four:7001")), ElementsAre("10.0.0.1:7001"));
  EXPECT_THAT(texts_of(addresses("six:7001")), ElementsAre("[fd00::1]:7001"));
  EXPECT_THAT(server_.questions(),
              UnorderedElementsAre("A four", "AAAA four", "A six", "AAAA six"));
}

TEST_F(ResolverTest, FindsAllAddressesOfAName) {
  server_.add_address("both", "127.0.0.2");
  server_.add_address("both", "127.0.0.3");
  server_.add_address("both", "::1");
  EXPECT_THAT(texts_of(addresses("both:7001")),
              UnorderedElementsAre("127.0.0.2:7001", "127.0.0.3:7001", "[::1]:7001"));
}

TEST_F(ResolverTest, AsksNobodyForNumbersAndForThisHostsOwnNames) {
  write("hosts", "10.0.0.9 nine\n");
  EXPECT_THAT(texts_of(addresses("10.0.0.1:7001")), ElementsAre("10.0.0.1:7001"));
  EXPECT_THAT(texts_of(addresses("[fd00::1]:7001")), ElementsAre("[fd00::1]:7001"));
  EXPECT_THAT(texts_of(addresses("nine:7001")), ElementsAre("10.0.0.9:7001"));
  for (const char* name : {"localhost:7001", "LOCALHOST.:7001", "a.localhost:7001"}) {
    EXPECT_THAT(texts_of(addresses(name)), ElementsAre("127.0.0.1:7001", "[::1]:7001"));
  }
  EXPECT_THAT(server_.questions(), IsEmpty());
}

TEST_F(ResolverTest, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "a", ":7001", "a:", "a:x", "a:70000", "::1:7001"}) {
    EXPECT_THROW(addresses(text), Error) << text;
  }
}

TEST_F(ResolverTest, SaysWhatIsNoName) {
  EXPECT_EQ(addresses("a..b:7001").failure,
            "it is not a valid host name, so no name server was asked: correct the name");
  EXPECT_THAT(server_.questions(), IsEmpty());
}

TEST_F(ResolverTest, FindsARecordThatWasNotThereBefore) {
  const Answer before = addresses("late:7001");
  EXPECT_THAT(before.addresses, IsEmpty());
  EXPECT_EQ(before.failure,
            "no record yet (NXDOMAIN from " + server_.address().to_text() + " for late)");
  server_.add_address("late", "10.0.0.1");
  const Answer after = addresses("late:7001");
  EXPECT_THAT(texts_of(after), ElementsAre("10.0.0.1:7001"));
  EXPECT_EQ(after.failure, "");
}

// A link-local address of another host names an interface of that host.
TEST_F(ResolverTest, SaysThatAnInterfaceIsMissing) {
  EXPECT_EQ(addresses("[fe80::1%none7]:7001").failure,
            "this host has no interface none7, so it cannot reach this address: give a name or "
            "another address");
  EXPECT_THAT(server_.questions(), IsEmpty());
}

TEST_F(ResolverTest, SaysThatANameHasOtherRecordsOnly) {
  server_.add_text("service");
  EXPECT_THAT(addresses("service:7001").failure,
              HasSubstr("no record yet (an empty answer from 127.0.0.1:"));
}

// The resolver asks only for names in the cluster, in this order. It never asks for the name in the
// node's own domain or for the bare name, because other servers could answer those.
TEST_F(ResolverTest, KeepsQuestionsInTheCluster) {
  write("resolv.conf", kOfAPod);
  server_.add_address("b-node-0-0.b", "203.0.113.1");
  server_.add_address("b-node-0-0.b.lan.example", "203.0.113.2");
  EXPECT_THAT(
      addresses("b-node-0-0.b:7001").failure,
      HasSubstr("for b-node-0-0.b.ml.svc.cluster.local and b-node-0-0.b.svc.cluster.local)"));
  EXPECT_THAT(names_asked(),
              ElementsAre("b-node-0-0.b.ml.svc.cluster.local", "b-node-0-0.b.svc.cluster.local"));
}

TEST_F(ResolverTest, PutsTheZoneOfTheClusterBehindServices) {
  write("resolv.conf", kOfAPod);
  server_.add_address("x.ns.svc", "203.0.113.1");
  server_.add_address("x.ns.svc.cluster.local", "10.0.0.1");
  EXPECT_THAT(texts_of(addresses("x.ns.svc:7001")), ElementsAre("10.0.0.1:7001"));
  EXPECT_THAT(server_.questions(),
              UnorderedElementsAre("A x.ns.svc.cluster.local", "AAAA x.ns.svc.cluster.local"));
}

TEST_F(ResolverTest, EndsAtTheFirstNameThatIsThere) {
  write("resolv.conf", "search one two three\n");
  server_.add_address("a.two", "10.0.0.1");
  EXPECT_THAT(texts_of(addresses("a:7001")), ElementsAre("10.0.0.1:7001"));
  EXPECT_THAT(names_asked(), ElementsAre("a.one", "a.two"));
}

TEST_F(ResolverTest, AsksAsItStandsForANameThatEndsWithADot) {
  write("resolv.conf", "search one\n");
  addresses("a:7001");
  addresses("b.:7001");
  EXPECT_THAT(names_asked(), ElementsAre("a.one", "a", "b"));
}

TEST_F(ResolverTest, PassesOverADomainThatFailsAndSaysSo) {
  write("resolv.conf", "search one two\n");
  server_.behave("one", Behaviour::kFails);
  EXPECT_THAT(addresses("a:7001").failure,
              AllOf(HasSubstr("the name server fails (SERVFAIL from 127.0.0.1:"),
                    HasSubstr("for a.one, a.two and a)")));
  server_.add_address("a.two", "10.0.0.1");
  EXPECT_THAT(texts_of(addresses("a:7001")), ElementsAre("10.0.0.1:7001"));
}

TEST_F(ResolverTest, SaysThatItIsRefused) {
  server_.behave("a", Behaviour::kRefuses);
  EXPECT_THAT(addresses("a:7001").failure, HasSubstr("refuses to answer (REFUSED from 127.0.0.1:"));
}

// The resolver asks nothing more: it expects that a server that did not answer once does not answer
// for other names either.
TEST_F(ResolverTest, EndsSilenceAndSaysWhose) {
  write("resolv.conf", "search one\n");
  options_.patience = milliseconds(300);
  server_.behave("", Behaviour::kIsSilent);
  EXPECT_EQ(addresses("a:7001").failure,
            "the name server " + server_.address().to_text() + " does not answer");
  EXPECT_THAT(names_asked(), ElementsAre("a.one"));
}

TEST_F(ResolverTest, AsksTheNextServerWhereOneIsSilent) {
  NameServer silent;
  silent.behave("", Behaviour::kIsSilent);
  server_.add_address("a", "10.0.0.1");
  options_.patience = milliseconds(300);
  options_.servers = {silent.address(), server_.address()};
  EXPECT_THAT(texts_of(addresses("a:7001")), ElementsAre("10.0.0.1:7001"));
  server_.behave("", Behaviour::kIsSilent);
  EXPECT_EQ(addresses("a:7001").failure, "the name servers " + silent.address().to_text() +
                                             " and " + server_.address().to_text() +
                                             " do not answer");
}

TEST_F(ResolverTest, AsksTheNextServerWhereOneFails) {
  NameServer failing;
  failing.behave("", Behaviour::kFails);
  server_.add_address("a", "10.0.0.1");
  options_.servers = {failing.address(), server_.address()};
  EXPECT_THAT(texts_of(addresses("a:7001")), ElementsAre("10.0.0.1:7001"));
  server_.behave("", Behaviour::kFails);
  EXPECT_THAT(addresses("a:7001").failure, HasSubstr(" fail, or cannot be reached"));
}

TEST_F(ResolverTest, SaysThatNobodyIsThere) {
  const os::Address address = NameServer().address();
  options_.servers = {address};
  EXPECT_EQ(addresses("a:7001").failure,
            "the name server " + address.to_text() + " cannot be reached");
}

TEST_F(ResolverTest, GivesWayToOthersWhileAServerThinks) {
  server_.think(milliseconds(100));
  server_.add_address("a", "10.0.0.1");
  Resolver resolver(options_);
  resolver.ask_addresses("a:7001");
  EXPECT_TRUE(resolver.is_asking());
  EXPECT_FALSE(resolver.advance());
  EXPECT_GT(resolver.next_deadline(), base::Clock::now());
  Resolver moved = std::move(resolver);
  EXPECT_THAT(texts_of(wait(moved)), ElementsAre("10.0.0.1:7001"));
  EXPECT_FALSE(moved.is_asking());
  EXPECT_FALSE(moved.next_deadline());
}

TEST_F(ResolverTest, ForgetsAQuestionForTheNext) {
  server_.behave("silent", Behaviour::kIsSilent);
  server_.add_address("a", "10.0.0.1");
  Resolver resolver(options_);
  resolver.ask_addresses("silent:1");
  EXPECT_FALSE(resolver.advance());
  resolver.ask_addresses("10.0.0.9:9");
  EXPECT_THAT(texts_of(wait(resolver)), ElementsAre("10.0.0.9:9"));
  resolver.ask_addresses("silent:1");
  resolver.ask_addresses("a:7001");
  EXPECT_THAT(texts_of(wait(resolver)), ElementsAre("10.0.0.1:7001"));
  resolver.ask_addresses("silent:1");  // This lookup ends with the resolver.
}

// There are more addresses than a datagram holds, so the resolver asks again over TCP.
TEST_F(ResolverTest, FindsMoreAddressesThanADatagramHolds) {
  for (int host = 1; host <= 100; ++host)
    server_.add_address("a", "10.0.0." + std::to_string(host));
  const Answer answer = addresses("a:7001");
  EXPECT_EQ(answer.addresses.size(), 100U) << answer.failure;
  EXPECT_EQ(server_.stream_count(), 1U);
}

// The server's hang-up must not end this process.
TEST_F(ResolverTest, OutlivesAServerThatHangsUp) {
  options_.patience = milliseconds(300);
  server_.behave("", Behaviour::kHangsUp);
  EXPECT_NE(addresses("mnist:7001").failure, "");
  EXPECT_GE(server_.stream_count(), 1U);
}

TEST_F(ResolverTest, AsksByTcpWhereItIsTold) {
  write("resolv.conf", "options use-vc\n");
  server_.add_address("a", "10.0.0.1");
  EXPECT_THAT(texts_of(addresses("a:7001")), ElementsAre("10.0.0.1:7001"));
  EXPECT_EQ(server_.stream_count(), server_.questions().size());
}

}  // namespace
}  // namespace rota::names
