// Tests what ranks derive from each other's cards: domains, hosts, local ranks.
#include "communicator/cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/error_of.h"

namespace rota {
namespace {

using ::testing::ElementsAre;

const std::vector<Card> kCards = {
    {.domain = "m/0", .host = "a", .local_name = "@x:0"},
    {.domain = "n/0",
     .host = "b",
     .local_name = "@y:0",
     .rank_0_host = "10.0.0.1",
     .cpus = cpu_bits({0, 9})},
    {.domain = "m/0", .host = "a", .local_name = "@z:0", .rank_0_host = "127.0.0.1"},
    {.domain = "m/7", .host = "a", .local_name = "@w:0", .rank_0_host = "127.0.0.1"}};

TEST(Cards, AreReadAsTheyWereWritten) {
  for (const Card& card : kCards) {
    const Card read = decode_card(encode(card));
    EXPECT_EQ(read.domain, card.domain);
    EXPECT_EQ(read.host, card.host);
    EXPECT_EQ(read.local_name, card.local_name);
    EXPECT_EQ(read.rank_0_host, card.rank_0_host);
    EXPECT_EQ(read.cpus, card.cpus);
  }
  for (const std::string& bad : {std::string(), encode(kCards[1]) + "x",
                                 encode(kCards[1]).substr(0, 20), std::string(40, '\xff')}) {
    const auto error = testing::error_of([&] { decode_card(bad); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kBadData);
  }
}

TEST(Cards, GiveRanksOfOneMachineAndUserADomain) {
  EXPECT_THAT(domains_of(kCards), ElementsAre(0, 1, 0, 2));
}

TEST(Cards, GiveTheTableItsHosts) {
  RankTable table;
  table.rows.resize(4);
  add_hosts(kCards, table);
  EXPECT_EQ(table.rows[1].host, "b");
  EXPECT_EQ(table.rows[2].host, "a");
  EXPECT_EQ(table.rows[2].local_rank, 1U);
  EXPECT_EQ(table.rows[3].local_rank, 0U);
}

// The ranks of rank 0's machine reach it at loopback, which is no use to the others.
TEST(Cards, SayHowOthersReachRankZero) {
  EXPECT_EQ(host_of_rank_0(kCards), "10.0.0.1");
  EXPECT_EQ(host_of_rank_0({kCards[0], kCards[3], kCards[1]}), "10.0.0.1");  // Another user.
  EXPECT_EQ(host_of_rank_0({kCards[0], kCards[2]}), "127.0.0.1");
  EXPECT_TRUE(can_be_used_elsewhere("fd00::1"));
  for (const std::string host : {"", "127.0.1.1", "::1"}) {
    EXPECT_FALSE(can_be_used_elsewhere(host)) << host;
  }
}

// A launcher may bind each rank to a CPU of its own, or all ranks to the same ones.
TEST(Cards, SayWhetherRanksHaveACpuEach) {
  const auto cards_of = [](const std::vector<std::vector<int>>& masks) {
    std::vector<Card> cards;
    cards.reserve(masks.size());
    for (const auto& mask : masks) cards.push_back({.domain = "m/0", .cpus = cpu_bits(mask)});
    return cards;
  };
  EXPECT_TRUE(may_spin(cards_of({{0}, {1}, {70}}), 1));
  EXPECT_TRUE(may_spin(cards_of({{0, 1}, {0, 1}}), 0));
  EXPECT_FALSE(may_spin(cards_of({{0}, {0}}), 1));
  EXPECT_FALSE(may_spin(cards_of({{0, 1}, {0, 1}, {1}}), 0));
  auto cards = cards_of({{0}, {0}, {0}});
  cards[1].domain = "n/0";
  EXPECT_TRUE(may_spin(cards, 1)) << "it is alone on its machine";
  cards[2].domain = "m/7";
  EXPECT_FALSE(may_spin(cards, 0)) << "another user's rank has the same CPU";
}

}  // namespace
}  // namespace rota
