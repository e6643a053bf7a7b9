// What the ways between ranks are called follows from who shares memory.
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
  for (const Ways ways : {Ways::kNone, Ways::kMemory, Ways::kTcp, Ways::kBoth}) {
    EXPECT_EQ(ways_of(transport_name(ways)), ways);
  }
  EXPECT_EQ(ways_of("carrier pigeon"), Ways::kNone);
}

TEST(Transports, ShareMemoryOrListenOrBoth) {
  for (const std::string_view transport : {"shm", "shm+tcp"}) {
    EXPECT_TRUE(shares_memory(transport));
  }
  for (const std::string_view transport : {"tcp", "none"}) EXPECT_FALSE(shares_memory(transport));

  EXPECT_TRUE(listens("tcp"));
  EXPECT_TRUE(listens("shm+tcp"));
  EXPECT_FALSE(listens("shm"));
  EXPECT_FALSE(listens("none"));
}

}  // namespace
}  // namespace rota::base
