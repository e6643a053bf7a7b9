// The ranks that share memory determine the transport, and a transport's name says which ranks
// share memory.
#include "base/transports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <rota/error.h>

namespace rota::base {
namespace {

using ::testing::ElementsAre;

TEST(Transports, SayWhatGoesBetweenDomains) {
  EXPECT_EQ(transport_between(Domains{3}), "none");
  EXPECT_EQ(transport_between(Domains{3, 3, 3}), "shm");
  EXPECT_EQ(transport_between(Domains{0, 2, 1}), "tcp");
  EXPECT_EQ(transport_between(Domains{0, 1, 0}), "shm+tcp");
}

TEST(Transports, AreAsSomebodyAsksWhereTheyShareWhatRanksDo) {
  const TransportRow toy{.name = "toy"};
  EXPECT_EQ(transport_between(Domains{0, 1}, &toy), "toy");
  EXPECT_EQ(transport_between(Domains{0, 0}, &toy), "shm");
  EXPECT_EQ(transport_between(Domains{0}, &toy), "none");
}

TEST(Transports, SayWhichRanksShareMemory) {
  EXPECT_THAT(domains_over("shm", 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(domains_over("tcp", 3), ElementsAre(0, 1, 2));
}

TEST(Transports, AreNotGuessed) {
  for (const std::string name : {"carrier pigeon", "none", ""}) {
    try {
      domains_over(name, 2);
      FAIL() << "the unknown transport '" << name << "' was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kSystem);
      EXPECT_EQ(std::string(error.what()), "the launcher chose the transport '" + name +
                                               "', which this program does not know: link it with "
                                               "the same rota as the launcher");
    }
  }
}

TEST(Transports, AreKnownByName) {
  for (const TransportRow& row : kTransports) EXPECT_EQ(find_transport(row.name), &row);
  EXPECT_FALSE(find_transport("carrier pigeon"));
  EXPECT_FALSE(find_transport(kNoTransport));
}

TEST(Transports, ShareMemoryOrListenOrBoth) {
  EXPECT_EQ(sharing_over("shm"), Sharing::kAll);
  EXPECT_EQ(sharing_over("shm+tcp"), Sharing::kDomain);
  EXPECT_TRUE(listens("tcp"));
  EXPECT_TRUE(listens("shm+tcp"));
  EXPECT_FALSE(listens("shm"));
  for (const std::string_view transport : {"tcp", "mpi", "none"}) {
    EXPECT_EQ(sharing_over(transport), Sharing::kNone);
  }
  EXPECT_FALSE(listens("mpi"));
  EXPECT_FALSE(listens("none"));
}

TEST(Transports, AreThereForRanksThatShareAllSomeOrNothing) {
  for (const Sharing sharing : {Sharing::kNone, Sharing::kDomain, Sharing::kAll}) {
    EXPECT_EQ(transport_for(sharing).sharing, sharing);
  }
  EXPECT_EQ(transport_for(Sharing::kNone).name, "tcp") << "nobody gets MPI without asking";
}

}  // namespace
}  // namespace rota::base
