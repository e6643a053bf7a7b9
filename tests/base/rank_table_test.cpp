// Tests the printed form of the rank table.
#include <gtest/gtest.h>

#include <rota/rank_table.h>

namespace rota {
namespace {

TEST(RankTable, ReadsAsATable) {
  RankTable table;
  table.source = "rotarun -np 2";
  table.transport = "tcp";
  table.rows.push_back({0, "pi-1.lan", "127.0.0.1:41000", "0-1"});
  table.rows.push_back({1, "pi-1.lan", "127.0.0.1:41001", ""});
  EXPECT_EQ(to_text(table),
            "epoch 0 · world 2 on 1 host · tcp · rotarun -np 2\n"
            "rank  local  host      address          cores\n"
            "   0      0  pi-1.lan  127.0.0.1:41000  0-1\n"
            "   1      1  pi-1.lan  127.0.0.1:41001  any\n");
}

TEST(RankTable, NamesWhatPlansAreChosenBy) {
  RankTable table;
  table.source = "s";
  table.transport = "shm";
  table.tuned = "/a/world.tuned";
  table.rows.push_back({0, "a", "", ""});
  EXPECT_TRUE(to_text(table).starts_with(
      "epoch 0 · world 1 on 1 host · shm · s · tuned by /a/world.tuned\n"));
}

TEST(RankTable, HostsAreNeverCutAtADot) {
  RankTable table;
  table.rows.push_back({0, "a.1.example", "", ""});
  table.rows.push_back({0, "a.2.example", "", ""});
  EXPECT_NE(to_text(table).find("world 2 on 2 hosts"), std::string::npos);
}

}  // namespace
}  // namespace rota
