// Who shares memory says which transport ranks have, and its name says who shares memory.
#include "base/transports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <rota/error.h>

namespace rota::base {
namespace {

using ::testing::ElementsAre;

TEST(Transports, SayWhatGoesBetweenIslands) {
  EXPECT_EQ(transport_between(Islands{3}), "none");
  EXPECT_EQ(transport_between(Islands{3, 3, 3}), "shm");
  EXPECT_EQ(transport_between(Islands{0, 2, 1}), "tcp");
  EXPECT_EQ(transport_between(Islands{0, 1, 0}), "shm+tcp");
}

TEST(Transports, AreAsSomebodyAsksWhereTheyShareWhatRanksDo) {
  const TransportRow toy{.name = "toy"};
  EXPECT_EQ(transport_between(Islands{0, 1}, &toy), "toy");
  EXPECT_EQ(transport_between(Islands{0, 0}, &toy), "shm");
  EXPECT_EQ(transport_between(Islands{0}, &toy), "none");
}

TEST(Transports, SayWhichRanksShareMemory) {
  EXPECT_THAT(islands_over("shm", 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(islands_over("tcp", 3), ElementsAre(0, 1, 2));
}

TEST(Transports, AreNotGuessed) {
  for (const std::string name : {"carrier pigeon", "none", ""}) {
    try {
      islands_over(name, 2);
      FAIL() << "guessed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kSystem);
      EXPECT_EQ(std::string(error.what()), "the launcher chose the transport '" + name +
                                               "', which this program does not know");
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
  EXPECT_EQ(sharing_over("shm+tcp"), Sharing::kIsland);
  EXPECT_TRUE(listens("tcp"));
  EXPECT_TRUE(listens("shm+tcp"));
  EXPECT_FALSE(listens("shm"));
  for (const std::string_view transport : {"tcp", "none"}) {
    EXPECT_EQ(sharing_over(transport), Sharing::kNone);
  }
  EXPECT_FALSE(listens("none"));
}

TEST(Transports, AreThereForRanksThatShareAllSomeOrNothing) {
  for (const Sharing sharing : {Sharing::kNone, Sharing::kIsland, Sharing::kAll}) {
    EXPECT_EQ(transport_for(sharing).sharing, sharing);
  }
}

}  // namespace
}  // namespace rota::base
