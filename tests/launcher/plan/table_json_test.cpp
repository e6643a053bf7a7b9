// Tests the rank table as JSON, field by field.
#include "launcher/plan/table_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rota::launcher {
namespace {

using nlohmann::json;

struct ShownRow {
  RankRow row;
  json host;
  json address;
  json cores;
  std::optional<std::string> visible{};  // The rank's CUDA_VISIBLE_DEVICES.
  json devices = nullptr;
};

TEST(TableJson, HasEveryFieldOfEveryRank) {
  const std::vector<ShownRow> rows = {
      {{0, "a", "127.0.0.1:41234", "0-3"}, "a", "127.0.0.1:41234", "0-3", "", json::array()},
      {{1, "a", "[::1]:5", "4,6"}, "a", "[::1]:5", "4,6", "3", {"3"}},
      {{0, "b", "", ""}, "b", nullptr, nullptr, "0,GPU-5", {"0", "GPU-5"}},
      {{0, "c.example", "c.example:2222", ""},
       "c.example",
       nullptr,
       nullptr},  // Still a name, not an address.
      {{0, "10.0.0.9", "10.0.0.9", ""}, "10.0.0.9", nullptr, nullptr},  // No port.
      {{0, "", "", ""}, nullptr, nullptr, nullptr},
      {{0, "q\"\\\n", "", ""}, "q\"\\\n", nullptr, nullptr},
  };
  RankTable table{.epoch = 7, .source = "TF_CONFIG", .transport = "tcp", .rows = {}};
  KnownDevices devices;
  for (const ShownRow& row : rows) {
    table.rows.push_back(row.row);
    devices.push_back(row.visible);
  }

  const json object = json::parse(to_json(table, devices));
  EXPECT_EQ(object.size(), 4U);
  EXPECT_EQ(object["source"], "TF_CONFIG");
  EXPECT_EQ(object["epoch"], 7);
  EXPECT_EQ(object["world"], rows.size());
  ASSERT_EQ(object["ranks"].size(), rows.size());
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const json expected = {{"rank", rank},
                           {"local_rank", rows[rank].row.local_rank},
                           {"host", rows[rank].host},
                           {"address", rows[rank].address},
                           {"role", rank == 0 ? "chief" : "worker"},
                           {"cores", rows[rank].cores},
                           {"devices", rows[rank].devices}};
    EXPECT_EQ(object["ranks"][rank], expected);
  }
}

TEST(TableJson, HasTheStateOfEachRankWhereItIsGiven) {
  const RankTable table{.source = "", .transport = "", .rows = {{}, {}, {}}};
  const std::vector<RankState> states = {
      {}, {RankState::Phase::kRunning}, {RankState::Phase::kEnded, 137}};
  const json ranks = json::parse(to_json(table, {"0"}, states))["ranks"];
  const json without = json::parse(to_json(table, {"0"}))["ranks"];
  const std::vector<std::pair<std::string, json>> expected = {
      {"starting", nullptr}, {"running", nullptr}, {"ended", 137}};
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    EXPECT_EQ(ranks[rank]["state"], expected[rank].first);
    EXPECT_EQ(ranks[rank]["exit_code"], expected[rank].second);
    EXPECT_EQ(ranks[rank]["devices"], rank == 0 ? json({"0"}) : json(nullptr));
    EXPECT_EQ(ranks[rank]["devices"], without[rank]["devices"]);
    EXPECT_FALSE(without[rank].contains("state"));
    EXPECT_FALSE(without[rank].contains("exit_code"));
  }
}

TEST(TableJson, IsTextWhateverAHostIsCalled) {
  const RankTable table{.source = "", .transport = "", .rows = {{.host = "\xff\xfe"}}};
  EXPECT_EQ(json::parse(to_json(table, {}))["ranks"][0]["host"], "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(TableJson, HasALineForEachRank) {
  const std::string text = to_json({.source = "", .transport = "", .rows = {{}, {}, {}}}, {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3 + 2);
}

}  // namespace
}  // namespace rota::launcher
