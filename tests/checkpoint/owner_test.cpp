// If two jobs use one folder, only one saves there, and the other gets an error that names this
// job.
#include "checkpoint/owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <rota/checkpoint.h>
#include <rota/error.h>

#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using ::testing::HasSubstr;

const RunId kOneRun = *run_id_from("11111111111111111111111111111111");
const RunId kOtherRun = *run_id_from("22222222222222222222222222222222");

class OwnerTest : public ::testing::Test {
 protected:
  std::string folder() const { return temporary_.path().string(); }
  std::string file() const { return folder() + "/owner"; }

  testing::TemporaryFolder temporary_;
};

TEST(OwnerName, ComesBackFromItsText) {
  const OwnerName name{
      .run = kOneRun, .start = 7, .host = "host a", .process = 4711, .token = kOtherRun};
  const std::string text = encode(name);
  EXPECT_EQ(owner_name_from(text), name);
  EXPECT_EQ(describe(name),
            "run 11111111111111111111111111111111, start 7, process 4711 on host "
            "host a");
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(owner_name_from(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(owner_name_from(text + "x"));
  EXPECT_FALSE(owner_name_from(std::string(text).replace(text.find("start 7"), 7, "start x")));
}

TEST_F(OwnerTest, WritesItsName) {
  Owner owner(folder(), kOneRun, 1);
  EXPECT_TRUE(owner.has_lock());
  owner.require_ownership();
  EXPECT_EQ(owner.name().process, static_cast<std::uint64_t>(::getpid()));
  owner.rename(kOtherRun, 5);
  owner.require_ownership();
  std::ifstream read(file());
  const std::string text{std::istreambuf_iterator<char>(read), {}};
  EXPECT_EQ(owner_name_from(text), owner.name());
  EXPECT_EQ(owner.name().run, kOtherRun);
  EXPECT_EQ(owner.name().start, 5U);
}

TEST_F(OwnerTest, RefusesASecondJobAndNamesTheFirst) {
  const Owner first(folder(), kOneRun, 4);
  const auto begin = std::chrono::steady_clock::now();
  ::testing::internal::CaptureStderr();
  const auto error = error_of([&] { Owner second(folder(), kOtherRun, 1, 120ms); });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rota: another job saves its checkpoints in " + folder() + " (" +
                describe(first.name()) + "): this job waits up to 0.12 s for it to end\n");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 120ms);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error->what(), HasSubstr(folder() + ": another job saves its checkpoints there (" +
                                       describe(first.name()) +
                                       ") and has not ended within "
                                       "0.12 s: end that job"));
  first.require_ownership();
}

// Runs are drawn at random, so an owner of the same run is another host of the same job.
TEST_F(OwnerTest, RefusesAnotherHostOfItsJobAtOnce) {
  const Owner first(folder(), kOneRun, 1);
  const auto error = error_of([&] { Owner second(folder(), kOneRun, 1, 1h); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error->what(),
              HasSubstr(folder() + ": another host of this job saves its checkpoints there (" +
                        describe(first.name()) + "), but each host needs a folder of its own"));
}

// rotarun gives a job that is asked to end 20 s to save, and Kubernetes gives a pod 30 s.
TEST_F(OwnerTest, IsAwaitedForLongerThanAJobHasToSave) {
  const CheckpointOptions options;
  EXPECT_GT(options.owner_wait_or_default(), 30s);
  EXPECT_LT(options.owner_wait_or_default(), options.save_timeout);
}

TEST_F(OwnerTest, WaitsForAJobThatEnds) {
  auto first = std::make_unique<Owner>(folder(), kOneRun, 4);
  std::thread ends([&] {
    std::this_thread::sleep_for(100ms);
    first.reset();
  });
  Owner second(folder(), kOtherRun, 1, 10s);
  second.require_ownership();
  EXPECT_TRUE(second.has_lock());
  ends.join();
}

TEST_F(OwnerTest, NoticesThatItsFileIsGoneOrAnother) {
  const Owner owner(folder(), kOneRun, 4);
  std::filesystem::remove(file());
  const auto gone = error_of([&] { owner.require_ownership(); });
  ASSERT_TRUE(gone);
  EXPECT_THAT(gone->what(), HasSubstr("the file owner is missing or damaged, so this job (run 1"));
  const Owner other(folder(), kOtherRun, 2);
  const auto taken = error_of([&] { owner.require_ownership(); });
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(taken->what(), HasSubstr("another job has taken the folder over (run 2"));
  other.require_ownership();
}

TEST_F(OwnerTest, NeedsAFolderThatExists) {
  const auto error = error_of([&] { Owner owner(folder() + "/missing", kOneRun, 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
}

}  // namespace
}  // namespace rota::checkpoint
