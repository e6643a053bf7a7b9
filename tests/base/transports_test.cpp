// Who shares memory says which transport ranks have, and its name says who shares memory.
#include "base/transports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::base {
namespace {

using ::testing::ElementsAre;

TEST(Transports, SayWhatGoesBetweenIslands) {
  EXPECT_EQ(transport_between(Islands{3}), "none");
  EXPECT_EQ(transport_between(Islands{3, 3, 3}), "shm");
  EXPECT_EQ(transport_between(Islands{0, 2, 1}), "tcp");
  EXPECT_EQ(transport_between(Islands{0, 1, 0}), "shm+tcp");
}

TEST(Transports, SayWhichRanksShareMemory) {
  EXPECT_THAT(islands_over("shm", 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(islands_over("tcp", 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(islands_over("none", 1), ElementsAre(0));
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
