// The rank table reaches the ranks whole, and ranks notice if their tables differ.
#include "rendezvous/table_text.h"

#include <gtest/gtest.h>

#include <string>

#include <rota/error.h>

#include "os/sealed_file.h"

namespace rota::rendezvous {
namespace {

RankTable table_of_three() {
  RankTable table;
  table.epoch = 3;
  table.source = "TF_CONFIG";
  table.transport = "shm+tcp";
  table.tuned = "/world.tuned";
  table.rows = {{0, "a", "10.0.0.1:7701", "0-3"},
                {0, "b", "10.0.0.2:7701", ""},
                {1, "b", "10.0.0.2:7702", ""}};
  return table;
}

TEST(TableText, ComesOutAsItWentIn) {
  const std::string text = encode_table(table_of_three(), {0, 1, 1});
  const auto places = decode_table(text);
  ASSERT_TRUE(places);
  EXPECT_EQ(encode_table(places->table, places->domains), text);
  EXPECT_EQ(places->table.epoch, 3U);
  EXPECT_EQ(places->table.tuned, "/world.tuned");
  ASSERT_EQ(places->table.rows.size(), 3U);
  EXPECT_EQ(places->table.rows[2].local_rank, 1U);
  EXPECT_EQ(places->table.rows[2].address, "10.0.0.2:7702");
  EXPECT_EQ(places->domains, (base::Domains{0, 1, 1}));
}

TEST(TableText, IsRefusedWhenCutShortAnywhereOrTooLong) {
  const std::string text = encode_table(table_of_three(), {0, 1, 1});
  for (std::size_t count = 0; count < text.size(); ++count) {
    EXPECT_FALSE(decode_table(std::string_view(text).substr(0, count))) << count << " bytes";
  }
  EXPECT_FALSE(decode_table(text + "x"));
}

TEST(TableText, SaysWhoSharesMemoryWhereSomeDo) {
  for (const base::Domains& wrong : {base::Domains{}, {0, 1}, {0, 0, 0}, {0, 1, 2}}) {
    EXPECT_FALSE(decode_table(encode_table(table_of_three(), wrong)));
  }
}

TEST(TableText, HasAsManyRanksAsAWorldMay) {
  RankTable table = table_of_three();
  table.transport = "tcp";
  table.rows.resize(kMaxWorldSize);
  EXPECT_TRUE(decode_table(encode_table(table, {})));
  table.rows.resize(kMaxWorldSize + 1);
  EXPECT_FALSE(decode_table(encode_table(table, {})));
  table.rows.clear();
  EXPECT_FALSE(decode_table(encode_table(table, {})));
}

// The names are as long as a DNS name can be.
TEST(TableText, OfTheLargestWorldIsNoLongerThanItMayBe) {
  RankTable table = table_of_three();
  table.transport = "tcp";
  table.rows.assign(kMaxWorldSize, {.local_rank = 63,
                                    .host = std::string(253, 'x'),
                                    .address = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
                                    .cores = std::string(200, '1')});
  EXPECT_LT(encode_table(table, {}).size(), kMaxTableBytes);
}

TEST(TableFile, IsReadByWhoKnowsItsMark) {
  const std::string text = encode_table(table_of_three(), {0, 1, 1});
  const os::Fd file = make_table_file(text);
  EXPECT_EQ(read_table_file(file, mark_of(text)), text);
  EXPECT_EQ(read_table_file(file, mark_of(text)), text);
}

TEST(TableFile, IsRefusedWhereItIsAnotherOne) {
  const std::string text = encode_table(table_of_three(), {0, 1, 1});
  std::string changed = text;
  changed.back() = 'x';
  for (const std::string& other : {changed, text.substr(1), std::string()}) {
    EXPECT_THROW(read_table_file(make_table_file(other), mark_of(text)), Error);
  }
  EXPECT_THROW(read_table_file(make_table_file(text), mark_of(text + "x")), Error);
}

}  // namespace
}  // namespace rota::rendezvous
