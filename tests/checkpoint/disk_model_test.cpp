// The model of a disk keeps what was synced, and may lose or reorder everything else.
#include "checkpoint/disk_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::testing {
namespace {

using Kind = FileCall::Kind;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

const Tree kNothing;

std::set<Tree> after(const std::vector<FileCall>& calls) {
  DiskModel disk("/disk");
  for (const FileCall& call : calls) disk.apply(call);
  return disk.after_loss_of_power(1);
}

FileCall create(const std::string& path) { return {.kind = Kind::kCreate, .path = path}; }
FileCall make_folder(const std::string& path) { return {.kind = Kind::kMakeFolder, .path = path}; }
FileCall sync(const std::string& path) { return {.kind = Kind::kSync, .path = path}; }
FileCall remove(const std::string& path) { return {.kind = Kind::kRemove, .path = path}; }
FileCall write(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  return {.kind = Kind::kWrite, .path = path, .offset = offset, .bytes = bytes};
}
FileCall rename(const std::string& from, const std::string& to) {
  return {.kind = Kind::kRename, .path = from, .to = to};
}

TEST(DiskModel, MayLoseAllThatIsNotSynced) {
  EXPECT_THAT(after({create("/disk/a"), write("/disk/a", 0, "x"), write("/disk/a", 1, "y")}),
              UnorderedElementsAre(kNothing, Tree{{"a", ""}}, Tree{{"a", "x"}}, Tree{{"a", "xy"}},
                                   Tree{{"a", std::string("\0y", 2)}}));
}

TEST(DiskModel, KeepsWhatIsSynced) {
  const std::vector<FileCall> made = {create("/disk/a"), write("/disk/a", 0, "x")};
  auto calls = made;
  calls.push_back(sync("/disk/a"));
  EXPECT_THAT(after(calls), UnorderedElementsAre(kNothing, Tree{{"a", "x"}}));
  calls.push_back(sync("/disk"));
  EXPECT_THAT(after(calls), ElementsAre(Tree{{"a", "x"}}));
  calls = made;
  calls.push_back(sync("/disk"));
  EXPECT_THAT(after(calls), UnorderedElementsAre(Tree{{"a", ""}}, Tree{{"a", "x"}}));
}

TEST(DiskModel, MayRenameBeforeItHasTheData) {
  EXPECT_THAT(
      after({create("/disk/a"), sync("/disk"), write("/disk/a", 0, "x"),
             rename("/disk/a", "/disk/b")}),
      UnorderedElementsAre(Tree{{"a", ""}}, Tree{{"a", "x"}}, Tree{{"b", ""}}, Tree{{"b", "x"}}));
}

TEST(DiskModel, HasNamesInAFolderOnlyAfterItsOwnSync) {
  const std::vector<FileCall> calls = {make_folder("/disk/f"), create("/disk/f/a"), sync("/disk")};
  EXPECT_THAT(after(calls), UnorderedElementsAre(Tree{{"f", std::nullopt}},
                                                 Tree{{"f", std::nullopt}, {"f/a", ""}}));
}

TEST(DiskModel, RemovesInAnyOrder) {
  EXPECT_THAT(
      after({create("/disk/a"), create("/disk/b"), sync("/disk"), remove("/disk/a"),
             remove("/disk/b")}),
      UnorderedElementsAre(Tree{{"a", ""}, {"b", ""}}, Tree{{"a", ""}}, Tree{{"b", ""}}, kNothing));
}

TEST(DiskModel, HasOneNameForAThingThatWasRenamedTwice) {
  EXPECT_THAT(after({create("/disk/a"), sync("/disk"), rename("/disk/a", "/disk/b"),
                     rename("/disk/b", "/disk/c")}),
              UnorderedElementsAre(Tree{{"a", ""}}, Tree{{"b", ""}}, Tree{{"c", ""}}));
}

TEST(DiskModel, ShowsWhatProcessesSee) {
  DiskModel disk("/disk");
  for (const FileCall& call :
       {make_folder("/disk/f"), create("/disk/f/a"), write("/disk/f/a", 0, "long"),
        FileCall{.kind = Kind::kTruncate, .path = "/disk/f/a", .offset = 2},
        write("/disk/f/a", 1, "x")}) {
    disk.apply(call);
  }
  EXPECT_EQ(disk.now(), (Tree{{"f", std::nullopt}, {"f/a", "lx"}}));
}

// Method: more changes than are tried in all combinations.
TEST(DiskModel, OfManyChangesTriesTheLikelyLosses) {
  std::vector<FileCall> calls = {create("/disk/a"), sync("/disk")};
  const std::string all = "abcdefghijklmnop";
  for (std::size_t i = 0; i < all.size(); ++i)
    calls.push_back(write("/disk/a", i, all.substr(i, 1)));
  const std::set<Tree> trees = after(calls);
  for (std::size_t i = 0; i <= all.size(); ++i) {
    EXPECT_TRUE(trees.contains({{"a", all.substr(0, i)}})) << i;
  }
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    std::string one_lost = all;
    one_lost[i] = '\0';
    EXPECT_TRUE(trees.contains({{"a", one_lost}})) << i;
  }
  EXPECT_GT(trees.size(), 100U);
}

}  // namespace
}  // namespace rota::testing
