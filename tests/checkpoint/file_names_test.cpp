// Names say what they mean, and no text that is not exactly such a name is taken for one.
#include "checkpoint/file_names.h"

#include <gtest/gtest.h>

namespace rota::checkpoint {
namespace {

const RunId kNamedRun = *run_id_from("0123456789abcdef0123456789abcdef");

TEST(RunId, ComesBackFromItsText) {
  EXPECT_EQ(to_text(kNamedRun), "0123456789abcdef0123456789abcdef");
  for (const char* text :
       {"", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeF",
        "0123456789abcdef0123456789abcdef0", " 123456789abcdef0123456789abcdef"}) {
    EXPECT_FALSE(run_id_from(text)) << text;
  }
  EXPECT_NE(random_run_id(), random_run_id());
}

TEST(FolderName, SortsAsItsStep) {
  EXPECT_EQ(folder_name(12'000), "000000012000");
  EXPECT_EQ(folder_name(0), "000000000000");
  EXPECT_EQ(folder_name(UINT64_MAX), "18446744073709551615");
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{12'000}, UINT64_MAX}) {
    EXPECT_EQ(step_of_folder(folder_name(step)), step);
  }
  for (const char* name :
       {"", "12000", "0000000012000", "000000012000 ", "+00000012000", "000000012000.set-aside-1",
        ".000000012000", "18446744073709551616", "owner", "00000001200a"}) {
    EXPECT_FALSE(step_of_folder(name)) << name;
  }
}

TEST(HiddenName, IsALeftoverAndNothingElseIs) {
  EXPECT_EQ(hidden_name({12'000, kNamedRun, 2}),
            ".000000012000.0123456789abcdef0123456789abcdef.2");
  EXPECT_EQ(removed_name(12'000), ".000000012000.removed");
  EXPECT_TRUE(is_leftover(hidden_name({12'000, kNamedRun, 2})));
  EXPECT_TRUE(is_leftover(removed_name(12'000)));
  EXPECT_FALSE(is_leftover(folder_name(12'000)));
  EXPECT_FALSE(is_leftover(set_aside_name(12'000, 1)));
  for (const char* name :
       {".", "..", "", ".nfs0001", ".snapshot", ".000000012000", ".12000.removed",
        ".000000012000.removed2", ".000000012000.0123456789abcdef0123456789abcdef",
        ".000000012000.0123456789abcdef0123456789abcdef.", ".000000012000..1",
        ".000000012000.0123456789abcdef0123456789abcdef.02", "owner"}) {
    EXPECT_FALSE(is_leftover(name)) << name;
  }
}

TEST(FileName, ComesBackFromItsText) {
  const FileName name{.kind = FileKind::kOptimizer, .index = 2, .count = 4};
  EXPECT_EQ(to_text(name), "optimizer-00002-of-00004.safetensors");
  EXPECT_EQ(to_text({FileKind::kRank, 0, 123'456}), "rank-00000-of-123456.safetensors");
  for (const FileKind kind : {FileKind::kParameters, FileKind::kOptimizer, FileKind::kRank}) {
    const FileName other{.kind = kind, .index = 7, .count = 100'000};
    EXPECT_EQ(file_name_from(to_text(other)), other);
  }
  for (const char* text :
       {"", "optimizer", "optimizer-00002-of-00004", "optimizer-00004-of-00004.safetensors",
        "optimizer-2-of-4.safetensors", "optimizer-000002-of-00004.safetensors",
        "other-00002-of-00004.safetensors", "optimizer-00002-of-00004.safetensors\n",
        "../optimizer-00002-of-00004.safetensors", "optimizer-00002-of-00004.safetensors/",
        "optimizer-00000-of-00000.safetensors", "optimizer--0002-of-00004.safetensors"}) {
    EXPECT_FALSE(file_name_from(text)) << text;
  }
}

TEST(FileName, SaysWhichTensorsAreParameters) {
  EXPECT_EQ(kind_of_shared("model/0.dense.weights"), FileKind::kParameters);
  EXPECT_EQ(kind_of_shared("optimizer/momentum/0"), FileKind::kOptimizer);
  EXPECT_EQ(kind_of_shared("model"), FileKind::kOptimizer);
}

}  // namespace
}  // namespace rota::checkpoint
