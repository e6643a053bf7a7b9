// The table of the page about GPUs has each row that was measured, and the reason for each that was
// not.
#include "gpu/row.h"

#include <gtest/gtest.h>

namespace rota::bench::gpu {
namespace {

const Row kSgd{.what = "SGD, 64 MiB",
               .value = 1800,
               .unit = "GB/s",
               .peer = "copy",
               .peer_value = 2000,
               .least_ratio = 0.9};

TEST(GpuRow, ComesBackFromJson) {
  const auto row = row_of_json(to_json(kSgd));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->what, kSgd.what);
  EXPECT_EQ(row->unit, kSgd.unit);
  EXPECT_EQ(row->peer, kSgd.peer);
  EXPECT_DOUBLE_EQ(row->value, kSgd.value);
  EXPECT_DOUBLE_EQ(row->ratio(), 0.9);
  EXPECT_DOUBLE_EQ(row->least_ratio, 0.9);
  EXPECT_EQ(row->why_not, "");
}

TEST(GpuRow, IsNotMadeOfOtherLines) {
  for (const char* line : {"", "rotarun: warning", "{}", "[1]", R"({"what": 3})"}) {
    EXPECT_FALSE(row_of_json(line)) << line;
  }
}

TEST(GpuTable, HasFiguresAndReasons) {
  const std::string lines =
      to_json(kSgd) + "\nnoise\n" + to_json({.what = "on 2 GPUs", .why_not = "one GPU"}) + "\n";
  EXPECT_EQ(table_of(lines),
            "| what | rota | peer or limit, in the same run | ratio | target |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| SGD, 64 MiB | 1800 GB/s | copy: 2000 GB/s | 90 % | ≥ 90 % |\n"
            "| on 2 GPUs | not run: one GPU | | | |\n");
}

}  // namespace
}  // namespace rota::bench::gpu
