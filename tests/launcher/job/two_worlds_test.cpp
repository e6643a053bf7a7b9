// Two worlds of one job, one after the other: what belongs to the first ends with it, and the
// second one takes nothing that befalls it for its own. Method: shells as ranks, in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/world.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/household.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

using ::testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(20);  // For hangs.

// Rank 1 of the first world ends when it has written, all others when they are ended.
constexpr const char* kScript =
    "echo \"this is world $WORLD\"; [ $WORLD$ROTA_RANK = 11 ] || exec sleep 100";

// What is written to stderr while this is there: what --verbose says.
class CapturedErrors {
 public:
  CapturedErrors() { ::testing::internal::CaptureStderr(); }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors() { (void)take(); }

  std::string take() {
    return std::exchange(is_taken_, true) ? "" : ::testing::internal::GetCapturedStderr();
  }

 private:
  bool is_taken_ = false;
};

class TwoWorlds : public ::testing::Test {
 protected:
  TwoWorlds() {
    os::adopt_orphans();
    std::filesystem::create_directories(folder_);
  }
  ~TwoWorlds() override {
    household_.finish(kPatience);
    std::filesystem::remove_all(folder_);
  }

  void begin(std::uint32_t number) {
    world_.reset();
    context_.environment = {"PATH=/usr/bin:/bin", "WORLD=" + std::to_string(number)};
    plan_.share.world = number;
    world_.emplace(World::Job{options_, context_, signals_, household_, nullptr, start_}, plan_,
                   prepare_here(options_, plan_, context_.environment));
  }

  void turn() {
    os::PollSet polls;
    household_.add_to(polls);
    const base::TimePoint now = base::Clock::now();
    world_->add_to(polls, now);
    polls.wait(now + std::chrono::milliseconds(10));
    household_.hear_starts(polls);
    world_->handle(polls, now);
    household_.hear_processes();
    household_.pass_on_output(polls);
  }

  bool comes_true(const std::function<bool()>& condition) {
    const base::TimePoint end = base::Clock::now() + kPatience;
    while (!condition() && base::Clock::now() < end) turn();
    return condition();
  }

  std::string written_by(std::size_t rank) const {
    std::ifstream file(folder_ + "/rank." + std::to_string(rank) + "/stdout");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::optional<Ending>& ending_of(std::size_t rank) {
    return world_->policy().records()[rank].ending;
  }

  CapturedErrors errors_;
  const std::string folder_ = ::testing::TempDir() + "two_worlds_" + std::to_string(::getpid());
  const Options options_ =
      parse_options({"-np", "2", "--oversubscribe", "--verbose", "--timeout", "1000",
                     "--output-filename", folder_, "/bin/sh", "-c", kScript});
  RunContext context_{.program_paths = {"/bin/sh"}};
  os::SignalWatch signals_{std::array{SIGCHLD}};
  JobPlan plan_ = make_plan(options_, gather_facts(), [] { return std::vector<Core>(); });
  const base::TimePoint start_ = base::Clock::now();
  std::vector<News> heard_;
  Household household_{options_, 0, [this](const News& news) {
                         heard_.push_back(news);
                         world_->hear(news, base::Clock::now());
                       }};
  std::optional<World> world_;
};

TEST_F(TwoWorlds, OfOneHouseholdDoNotMeet) {
  begin(1);
  EXPECT_TRUE(household_.has_running());  // Who has not begun has not ended.
  world_->start();
  ASSERT_TRUE(comes_true([&] { return ending_of(1) && !written_by(0).empty(); }));
  household_.kill();
  // What becomes of rank 0 is heard when it is too late.
  begin(2);
  world_->start();
  ASSERT_TRUE(comes_true([&] { return !heard_.empty() && heard_.back().world == 1; }));
  EXPECT_EQ(heard_.back().kind, News::Kind::kRankKilled);
  EXPECT_FALSE(ending_of(0));
  EXPECT_FALSE(ending_of(1));
  EXPECT_TRUE(household_.has_running());
  ASSERT_TRUE(comes_true([&] { return written_by(1).ends_with("2\n"); }));
  ASSERT_TRUE(comes_true([&] { return written_by(0).ends_with("2\n"); }));
  // Two ranks, and their keepers.
  EXPECT_TRUE(comes_true([] { return os::descendants_of(os::own_process()).size() == 4; }));
  household_.kill();
  EXPECT_TRUE(comes_true([&] { return !household_.has_children(); }));
  EXPECT_TRUE(ending_of(0));
  EXPECT_TRUE(ending_of(1));
  EXPECT_FALSE(household_.has_running());
  EXPECT_TRUE(comes_true([&] { return !household_.output().has_pending(); }));
  EXPECT_THAT(errors_.take(),
              HasSubstr("late news of world 1 is dropped, of rank 0: it was killed by SIGKILL\n"));
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_EQ(written_by(rank), "this is world 1\nthis is world 2\n") << rank;
  }
}

// News of the job itself has no number.
TEST_F(TwoWorlds, HearWhatBefallsTheJob) {
  begin(2);
  world_->hear({.kind = News::Kind::kSignal, .value = SIGTERM, .text = "b"}, start_);
  EXPECT_EQ(world_->policy().decide(start_, false), ExitPolicy::Action::kTerminate);
  EXPECT_EQ(world_->policy().outcome().signal, SIGTERM);
}

TEST_F(TwoWorlds, HaveOneTimeout) {
  begin(1);
  begin(2);
  EXPECT_EQ(world_->policy().decide(start_, true), ExitPolicy::Action::kNone);
  EXPECT_EQ(world_->policy().next_deadline(), start_ + std::chrono::seconds(1000));
}

}  // namespace
}  // namespace rota::launcher
