// Tests the printed report: the exact text for people, and the parsed JSON for programs.
#include "launcher/preflight/preflight_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "preflight/inspection.h"
#include "testing/comma_locale.h"

namespace rota::preflight {
namespace {

using Json = nlohmann::json;

TEST(Report, IsALineForEachCheckAndOneForEachEdge) {
  Inspection inspection = fine_inspection();
  inspection.edges[1].bandwidth = 11.8e6;
  const std::string slow =
      "b -> c has 94.4 Mbit/s, 0.0094 of the median: the whole ring is as slow as this edge: check "
      "the network between the two hosts, or leave out a host\n";
  const std::string limits =
      "limits     fine      addresses: no limit (ulimit -v), file sizes: no limit (-f), processes: "
      "no limit (-u)\n";
  EXPECT_EQ(to_text(inspection, judge(inspection)), R"(check      verdict   found
hosts      fine      a (a:7701), b (b:7701), c (c:7701)
key        fine      all 3 hosts have proved that they have the same key
version    fine      rota 1.2.3
features   fine      x86_64, avx2, transports shm and tcp
program    fine      /opt/train: 4711 bytes, SHA-256 aaaaaaaaaaaa
ranks      fine      6: 2 on a, 2 on b, 2 on c; 2 CPUs allowed, no quota
ports      fine      every host has enough free ports of --ports 7700-7955
files      fine      1024 open files, at most 4096
)" + limits + R"(memory     fine      8.0 GiB, may lock 64 KiB
/dev/shm   fine      1.0 GiB free: rota itself does not use /dev/shm
clocks     fine      within 0 us of a's clock
bandwidth  degraded  )" + slow + R"(latency    fine      40 us to 40 us on the edges of the ring

edge    latency  of median    bandwidth  of median
a -> b    40 us       1.00    10 Gbit/s       1.00
b -> c    40 us       1.00  94.4 Mbit/s       0.01  <- slow
c -> a    40 us       1.00    10 Gbit/s       1.00

preflight: degraded: bandwidth: )" + slow);
}

TEST(Report, IsTheSameInEveryLocale) {
  Inspection inspection = fine_inspection();
  inspection.edges[1].bandwidth = 11.8e6;
  inspection.hosts[1].clock_ahead = 2.5;
  const Judgement judgement = judge(inspection);
  const std::string text = to_text(inspection, judgement);
  const std::string json = to_json(inspection, judgement);
  const testing::CommaLocale locale;
  ASSERT_TRUE(testing::CommaLocale::is_in_use());
  const Judgement again = judge(inspection);
  EXPECT_EQ(to_text(inspection, again), text);
  EXPECT_EQ(to_json(inspection, again), json);
}

TEST(Report, IsOneObjectForPrograms) {
  Inspection inspection = fine_inspection();
  inspection.hosts[1].facts.program_trouble = "cannot run train: Permission denied";
  inspection.hosts[1].facts.program_sha256.clear();
  inspection.hosts[1].facts.process_limit = 95000;
  inspection.hosts[1].clock_ahead = 0.25;
  inspection.hosts[2].facts.locked_memory_bytes = UINT64_MAX;
  inspection.hosts[2].facts.shared_memory_bytes.reset();
  const Judgement judgement = judge(inspection);
  const Json report = Json::parse(to_json(inspection, judgement));
  EXPECT_EQ(report["verdict"], "unusable");
  EXPECT_EQ(report["code"], 20);
  EXPECT_EQ(report["reason"], judgement.reason);
  ASSERT_EQ(report["checks"].size(), judgement.findings.size());
  EXPECT_EQ(report["checks"][4], Json({{"check", "program"},
                                       {"verdict", "unusable"},
                                       {"found", judgement.findings[4].found},
                                       {"advice", judgement.findings[4].advice}}));
  EXPECT_TRUE(report["checks"][0]["advice"].is_null());
  EXPECT_EQ(report["hosts"][1], Json::parse(R"({
    "host": "b", "rank": 1, "address": "b:7701", "version": "1.2.3", "architecture": "x86_64",
    "kernels": "avx2", "transports": ["shm", "tcp"], "devices": 0, "slots": 2,
    "cpus": "2 CPUs allowed, no quota",
    "program": {"path": "/opt/train", "bytes": null, "sha256": null,
                "trouble": "cannot run train: Permission denied"},
    "clock_ahead_s": 0.25, "memory_bytes": 8589934592, "locked_memory_bytes": 65536,
    "dev_shm_free_bytes": 1073741824,
    "limits": {"address_bytes": null, "file_bytes": null, "processes": 95000},
    "open_files": {"soft": 1024, "hard": 4096},
    "free_ports": 100})"));
  EXPECT_TRUE(report["hosts"][2]["locked_memory_bytes"].is_null());
  EXPECT_TRUE(report["hosts"][2]["dev_shm_free_bytes"].is_null());
  const Json& edge = report["edges"][2];
  EXPECT_EQ(edge["from"], 2);
  EXPECT_EQ(edge["to"], 0);
  EXPECT_EQ(edge["from_host"], "c");
  EXPECT_EQ(edge["to_host"], "a");
  EXPECT_DOUBLE_EQ(edge["latency_us"], 40);
  EXPECT_DOUBLE_EQ(edge["bandwidth_bits_per_s"], 10e9);
  EXPECT_DOUBLE_EQ(edge["bandwidth_ratio"], 1);
  EXPECT_EQ(edge["slow"], false);
}

// A script finds the same fields even if the preflight could inspect nothing.
TEST(Report, HasTheFieldsThatRotarunGivesOnItsOwn) {
  const Inspection inspection = fine_inspection();
  const auto full = nlohmann::ordered_json::parse(to_json(inspection, judge(inspection)));
  const auto brief =
      nlohmann::ordered_json::parse(launcher::to_json(Verdict::kUnknown, "got SIGTERM"));
  ASSERT_EQ(full.size(), brief.size());
  for (auto one = full.begin(), other = brief.begin(); one != full.end(); ++one, ++other) {
    EXPECT_EQ(one.key(), other.key());
  }
  EXPECT_EQ(brief["verdict"], "could not tell");
  EXPECT_EQ(brief["code"], 30);
  EXPECT_EQ(brief["reason"], "got SIGTERM");
  EXPECT_TRUE(Json::parse(launcher::to_json(Verdict::kFine, ""))["reason"].is_null());
}

}  // namespace
}  // namespace rota::preflight
