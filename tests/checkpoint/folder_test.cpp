// A folder of checkpoints shows only whole checkpoints, and removes only those that it is asked to
// remove.
#include "checkpoint/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <rota/error.h>

#include "checkpoint/file_names.h"
#include "os/durable_file.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

const RunId kRun = *run_id_from("0123456789abcdef0123456789abcdef");

class Folder : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return checkpoints_.path() + "/" + name; }

  void put(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    std::ofstream(path(name) + "/file") << name;
  }
  void save(std::uint64_t step) const {
    std::ofstream(checkpoints_.begin({step, kRun, 1}) + "/file") << "step " << step;
    checkpoints_.commit({step, kRun, 1});
  }
  std::vector<std::string> names() const { return os::names_in(checkpoints_.path()); }

  testing::TemporaryFolder temporary_;
  CheckpointFolder checkpoints_{(temporary_.path() / "a/b").string()};
};

TEST_F(Folder, HasNoCheckpointsBeforeItExists) {
  EXPECT_TRUE(checkpoints_.steps().empty());
  EXPECT_TRUE(checkpoints_.sweep().empty());
  EXPECT_FALSE(std::filesystem::exists(checkpoints_.path()));
  checkpoints_.create();
  checkpoints_.create();
  EXPECT_TRUE(checkpoints_.steps().empty());
}

TEST_F(Folder, ListsTheNewestFirstAndNothingElse) {
  checkpoints_.create();
  for (const char* name : {"000000000100", "000000000020", "1000000000000",
                           "000000000100.set-aside-1", "best", ".000000000200.removed"}) {
    put(name);
  }
  EXPECT_THAT(checkpoints_.steps(), ElementsAre(1'000'000'000'000, 100, 20));
}

TEST_F(Folder, ShowsACheckpointOnceItIsCommitted) {
  checkpoints_.create();
  const std::string hidden = checkpoints_.begin({12, kRun, 3});
  EXPECT_EQ(hidden, path(".000000000012.0123456789abcdef0123456789abcdef.3"));
  std::ofstream(hidden + "/file") << "x";
  EXPECT_TRUE(checkpoints_.steps().empty());
  EXPECT_EQ(checkpoints_.commit({12, kRun, 3}), path("000000000012"));
  EXPECT_THAT(checkpoints_.steps(), ElementsAre(12));
  EXPECT_TRUE(std::filesystem::exists(path("000000000012/file")));
  EXPECT_THAT(names(), ElementsAre("000000000012"));
}

TEST_F(Folder, BeginsWithAnEmptyFolder) {
  checkpoints_.create();
  std::ofstream(checkpoints_.begin({12, kRun, 1}) + "/half") << "x";
  EXPECT_TRUE(std::filesystem::is_empty(checkpoints_.begin({12, kRun, 1})));
}

TEST_F(Folder, SetsACheckpointOfTheSameStepAside) {
  checkpoints_.create();
  put("000000000012");
  put("000000000012.set-aside-1");
  save(12);
  EXPECT_THAT(names(),
              ElementsAre("000000000012", "000000000012.set-aside-1", "000000000012.set-aside-2"));
  std::string text;
  std::getline(std::ifstream(path("000000000012.set-aside-2/file")), text);
  EXPECT_EQ(text, "000000000012");
  std::getline(std::ifstream(path("000000000012.set-aside-1/file")), text);
  EXPECT_EQ(text, "000000000012.set-aside-1");
}

TEST_F(Folder, KeepsTheNewestAndTheBest) {
  checkpoints_.create();
  for (const std::uint64_t step : {10U, 20U, 30U, 40U, 50U}) save(step);
  EXPECT_THAT(checkpoints_.keep_newest(2, 50, {20}), ElementsAre(30, 10));
  EXPECT_THAT(checkpoints_.steps(), ElementsAre(50, 40, 20));
  EXPECT_THAT(checkpoints_.keep_newest(2, 50, {50}), ElementsAre(20));
  EXPECT_TRUE(checkpoints_.keep_newest(3, 50, {}).empty());
  EXPECT_THAT(names(), ElementsAre("000000000040", "000000000050"));
}

// Where a file system has no locks, another job may find out the same at the same time.
TEST_F(Folder, FindsOutWhetherItRenamesWithoutTheNamesOfOthers) {
  checkpoints_.create();
  const RunId other = *run_id_from("fedcba9876543210fedcba9876543210");
  for (const std::string& name :
       {removed_name(0), hidden_name({0, other, 1}), hidden_name({0, other, 2})}) {
    put(name);
  }
  const auto before = names();
  checkpoints_.require_renames(kRun);
  EXPECT_EQ(names(), before);
}

TEST_F(Folder, SetsLaterCheckpointsAside) {
  checkpoints_.create();
  for (const std::uint64_t step : {10U, 20U, 30U, 40U}) save(step);
  put("000000000030.set-aside-1");
  checkpoints_.set_aside_after(40);
  checkpoints_.set_aside_after(20);
  EXPECT_THAT(checkpoints_.steps(), ElementsAre(20, 10));
  EXPECT_THAT(names(), ElementsAre("000000000010", "000000000020", "000000000030.set-aside-1",
                                   "000000000030.set-aside-2", "000000000040.set-aside-1"));
}

// A run that could not resume from step 50 has gone on from step 20, and saves step 30.
TEST_F(Folder, KeepsTheOneJustSavedBesideLaterOnes) {
  checkpoints_.create();
  for (const std::uint64_t step : {10U, 20U, 30U, 50U}) save(step);
  EXPECT_THAT(checkpoints_.keep_newest(1, 30, {}), ElementsAre(20, 10));
  EXPECT_THAT(checkpoints_.steps(), ElementsAre(50, 30));
}

TEST_F(Folder, RemovesACheckpointAlsoAfterAnInterruptedRemoval) {
  checkpoints_.create();
  save(10);
  put(".000000000010.removed");
  checkpoints_.remove(10);
  checkpoints_.remove(10);
  EXPECT_TRUE(names().empty());
}

TEST_F(Folder, SweepsItsOwnLeftoversOnly) {
  checkpoints_.create();
  save(10);
  checkpoints_.begin({20, kRun, 1});
  for (const char* name : {".snapshot", "notes", "000000000010.set-aside-1"}) put(name);
  put(removed_name(5));
  EXPECT_THAT(checkpoints_.sweep(), ElementsAre(removed_name(5), hidden_name({20, kRun, 1})));
  EXPECT_THAT(names(),
              ElementsAre(".snapshot", "000000000010", "000000000010.set-aside-1", "notes"));
}

TEST_F(Folder, CannotBeAFile) {
  std::ofstream((temporary_.path() / "a").string()) << "x";
  const auto error = error_of([&] { checkpoints_.create(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error->what(), HasSubstr("a: cannot be created: File exists"));
}

}  // namespace
}  // namespace rota::checkpoint
