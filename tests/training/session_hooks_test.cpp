// Hooks of a Session that fail, or that come too late. Method: the ranks are threads.
#include <rota/session.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::TemporaryFolder;

class Throws : public SessionHook {
 public:
  void on_step(std::uint64_t step, std::span<const double>) override {
    if (step == 2) throw std::runtime_error("no room");
  }
};

// Writes down why the run has failed.
class Hears : public SessionHook {
 public:
  explicit Hears(std::vector<std::string>& causes) : causes_(causes) {}
  void on_end(std::uint64_t) override { causes_.emplace_back("end"); }
  void on_failure(const std::string& first_cause) noexcept override {
    causes_.push_back(first_cause);
  }

 private:
  std::vector<std::string>& causes_;
};

// Rank 1 has a hook that throws.
TEST(SessionHooks, OfAllRanksAreToldOfAFailureOnce) {
  std::vector<std::vector<std::string>> causes(2);
  outcomes_of_ranks(2, [&](Communicator& communicator) {
    Throws throws;
    Hears hears(causes[communicator.rank()]);
    Session session(communicator);
    session.add_hook(hears);
    if (communicator.rank() == 1) session.add_hook(throws);
    session.restore();
    while (session.step() < 5 && session.begin_step()) {
      session.before_update();
      session.end_step();
    }
    session.end();
  });
  for (const auto& of_rank : causes) EXPECT_THAT(of_rank, ElementsAre(HasSubstr("no room")));
}

TEST(SessionHooks, AreToldIfTheLoopItselfFails) {
  std::vector<std::string> causes;
  const auto outcomes = outcomes_of_ranks(1, [&](Communicator& communicator) {
    Hears hears(causes);
    Session session(communicator);
    session.add_hook(hears);
    session.restore();
    ASSERT_TRUE(session.begin_step());
    throw std::runtime_error("the data is gone");
  });
  EXPECT_TRUE(outcomes.front());
  EXPECT_THAT(causes, ElementsAre(HasSubstr("the training loop failed")));
}

TEST(SessionHooks, EndTheRunOnEveryRankIfOneFailsAndNothingIsSaved) {
  const TemporaryFolder folder;
  SessionOptions options;
  options.checkpoints.folder = folder.path() / "run";
  options.checkpoints.every_seconds = 0;
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    std::vector<float> weights(100);
    Throws hook;
    Session session(communicator, options);
    session.track("weights", weights);
    if (communicator.rank() == 1) session.add_hook(hook);
    session.restore();
    while (session.step() < 5 && session.begin_step()) {
      session.before_update();
      session.end_step();
    }
    session.end();
  });
  EXPECT_TRUE(outcomes[0] && outcomes[1]);
  EXPECT_THAT(error_of(outcomes[0]).what(), HasSubstr("no room"));
  on_every_rank(1, [&](Communicator& communicator) {
    std::vector<float> weights(100);
    Session session(communicator, options);
    session.track("weights", weights);
    EXPECT_TRUE(session.restore().is_fresh);
  });
}

// Not every exception is a std::exception. The other rank must not wait for its deadline.
TEST(SessionHooks, MayThrowAnything) {
  class ThrowsANumber : public SessionHook {
   public:
    void on_step(std::uint64_t, std::span<const double>) override { throw 7; }
  };
  std::vector<std::vector<std::string>> causes(2);
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    ThrowsANumber throws;
    Hears hears(causes[communicator.rank()]);
    Session session(communicator);
    session.add_hook(hears);
    if (communicator.rank() == 1) session.add_hook(throws);
    session.restore();
    while (session.step() < 5 && session.begin_step()) {
      session.before_update();
      session.end_step();
    }
  });
  EXPECT_EQ(error_of(outcomes[0]).code(), ErrorCode::kAborted);
  EXPECT_THROW(std::rethrow_exception(outcomes[1]), int);
  const auto says = HasSubstr("threw something that is not a std::exception");
  EXPECT_THAT(causes[0], ElementsAre(says));
  EXPECT_THAT(causes[1], ElementsAre(says));
}

TEST(SessionHooks, ThatHaveMissedTheBeginAreRefused) {
  on_every_rank(2, [&](Communicator& communicator) {
    Throws hook;
    Session session(communicator);
    session.restore();
    EXPECT_THROW(session.add_hook(hook), Error);
    EXPECT_THROW(session.add_chief_hook(hook), Error);
  });
}

}  // namespace
}  // namespace rota
