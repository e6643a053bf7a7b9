// Tests the sentences about how a job ended, and the printed plan of a job.
#include "launcher/job/end_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <rota/error.h>

#include "launcher/plan/job_plan.h"

namespace rota::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ReportTest : public ::testing::Test {
 protected:
  std::string describe_fault(Fault::Kind kind, std::optional<std::size_t> witness = std::nullopt,
                             const std::string& testimony = "") {
    Outcome outcome;
    outcome.reason = Outcome::Reason::kFault;
    outcome.fault.kind = kind;
    outcome.fault.rank = 1;
    outcome.fault.witness = witness;
    outcome.fault.testimony = testimony;
    return describe(outcome, records_, names_);
  }

  std::vector<RankRecord> records_ = std::vector<RankRecord>(2);
  std::vector<RankName> names_ = {{10, "here"}, {11, "here"}};
};

TEST_F(ReportTest, NamesTheRankItsProcessItsHostAndItsEnd) {
  records_[1].ending = Ending{true, SIGKILL, {}};
  EXPECT_EQ(describe_fault(Fault::Kind::kDied), "rank 1 (pid 11, here) was killed by SIGKILL");
  records_[1].ending = Ending{false, 3, {}};
  EXPECT_EQ(describe_fault(Fault::Kind::kDied), "rank 1 (pid 11, here) exited with code 3");
}

TEST(DescribeLate, NamesTheWorldAndWhatBecameOfWhom) {
  EXPECT_EQ(
      describe_late({.kind = JobEvent::Kind::kRankStarted, .world = 1, .rank = 7, .value = 99}),
      "dropped a late event of world 1, from rank 7");
  EXPECT_EQ(describe_late({.kind = JobEvent::Kind::kEvaluatorExited, .world = 2, .value = 3}),
            "dropped a late event of world 2, from evaluator 0: it exited with code 3");
  EXPECT_EQ(describe_late({.kind = JobEvent::Kind::kRankKilled, .world = 1, .value = SIGKILL}),
            "dropped a late event of world 1, from rank 0: it was killed by SIGKILL");
}

TEST_F(ReportTest, GivesTheRanksOwnReason) {
  records_[1].report = Report{ErrorCode::kNotFinite, std::nullopt, "the loss is NaN", false, {}};
  EXPECT_EQ(describe_fault(Fault::Kind::kReported),
            "rank 1 (pid 11, here) failed: the loss is NaN");
  records_[1].ending = Ending{false, 9, {}};
  EXPECT_EQ(describe_fault(Fault::Kind::kReported),
            "rank 1 (pid 11, here) exited with code 9: the loss is NaN");
}

TEST_F(ReportTest, SaysWhoWaitedForASilentRank) {
  EXPECT_EQ(describe_fault(Fault::Kind::kSilent, 0, "rank 0: all_reduce timed out"),
            "rank 1 (pid 11, here) is silent: rank 0: all_reduce timed out");
  EXPECT_EQ(describe_fault(Fault::Kind::kSilent, 0),
            "rank 1 (pid 11, here) is silent: rank 0 waited for it");
  EXPECT_EQ(describe_fault(Fault::Kind::kStopped),
            "rank 1 (pid 11, here) is silent: it is stopped");
}

TEST_F(ReportTest, SaysWhoNeededARankThatLeft) {
  records_[1].ending = Ending{false, 0, {}};
  EXPECT_EQ(describe_fault(Fault::Kind::kLeft, 0, "rank 0: barrier"),
            "rank 1 (pid 11, here) exited with code 0 while it was needed: rank 0: barrier");
}

TEST(Report, ListsRanksUnlessTheyAreTooMany) {
  EXPECT_EQ(list_ranks(std::vector<std::size_t>{0, 2}), "rank 0, rank 2");
  EXPECT_EQ(list_ranks(std::vector<std::size_t>(100)), "100 ranks");
}

TEST(Report, QuotesLastLines) {
  EXPECT_EQ(quote({}), "");
  EXPECT_EQ(quote({"a", "b"}), "rotarun: its last lines of stderr:\nrotarun:   a\nrotarun:   b\n");
}

Facts small_machine() {
  Facts facts;
  facts.host = "pi";
  facts.allowed_cpus = {0, 1, 2, 3};
  facts.memory_bytes = std::uint64_t{1} << 32;
  return facts;
}

std::vector<Core> no_cores() { throw std::logic_error("asked for the topology"); }

TEST(JobPlan, HasARankForEachSlotAndDoesNotAskForTheTopology) {
  const JobPlan plan = make_plan(parse_options({"p"}), small_machine(), no_cores);
  EXPECT_EQ(plan.job.table.rows.size(), 4U);
  EXPECT_EQ(plan.job.table.transport, "shm");
  EXPECT_EQ(plan.job.table.source, "rotarun -np 4");
  EXPECT_EQ(plan.job.table.rows[3].local_rank, 3U);
  EXPECT_EQ(plan.job.table.rows[3].host, "pi");
  EXPECT_TRUE(plan.job.may_spin);
  EXPECT_EQ(plan.job.deadline, std::chrono::seconds(60));
  EXPECT_GT(plan.arena_bytes, 0U);
}

TEST(JobPlan, LetsRanksOutnumberSlotsButNotSpin) {
  const Options options = parse_options({"-np", "5", "--transport", "tcp", "p"});
  const JobPlan plan = make_plan(options, small_machine(), no_cores);
  EXPECT_EQ(plan.job.table.rows.size(), 5U);
  EXPECT_FALSE(plan.job.may_spin);
  EXPECT_EQ(plan.arena_bytes, 0U);
}

TEST(JobPlan, WarnsOfMoreRanksThanThisHostHasOrIsDeclaredToHave) {
  Facts facts = small_machine();
  const auto warnings_of = [&](const std::vector<std::string>& arguments) {
    return make_plan(parse_options(arguments), facts, no_cores).warnings;
  };
  EXPECT_THAT(warnings_of({"-np", "5", "p"}), ElementsAre(StartsWith("5 ranks for 4 slots: ")));
  EXPECT_THAT(warnings_of({"-np", "5", "--oversubscribe", "p"}), IsEmpty());
  facts.declared = {.count = 6, .source = "ROTA_SLOTS"};
  EXPECT_THAT(warnings_of({"-np", "5", "p"}), IsEmpty());
  EXPECT_THAT(warnings_of({"-np", "7", "p"}), ElementsAre(StartsWith("7 ranks for 6 slots: ")));
  EXPECT_FALSE(make_plan(parse_options({"-np", "5", "p"}), facts, no_cores).job.may_spin);
}

TEST(JobPlan, HasASlotForSoManyCpus) {
  const JobPlan plan =
      make_plan(parse_options({"--cpus-per-rank", "2", "p"}), small_machine(), no_cores);
  EXPECT_EQ(plan.layout.places.size(), 2U);
  EXPECT_TRUE(plan.job.may_spin);
  EXPECT_THROW(make_plan(parse_options({"--cpus-per-rank", "5", "p"}), small_machine(), no_cores),
               UsageError);
}

TEST(JobPlan, DescribesBindings) {
  const auto read_cores = [] { return std::vector<Core>{{{0}, 0}, {{1, 2, 3}, 0}}; };
  const auto lines_of = [&](const std::vector<std::string>& arguments) {
    const JobPlan plan = make_plan(parse_options(arguments), small_machine(), read_cores);
    return describe_bindings(plan.assignment, plan.job.table.rows[0].host);
  };
  EXPECT_THAT(lines_of({"--map-by", "core", "-np", "2", "p"}),
              ElementsAre("rank 0 on pi: bound to CPU 0", "rank 1 on pi: bound to CPUs 1-3"));
  EXPECT_THAT(lines_of({"-np", "1", "p"}), ElementsAre("rank 0 on pi: not bound"));
}

TEST(JobPlan, ShowsTheCoresOfBoundRanks) {
  const Options options = parse_options({"--map-by", "core", "-np", "2", "p"});
  const JobPlan plan = make_plan(options, small_machine(), [] {
    return std::vector<Core>{{{0, 2}, 0}, {{1, 3}, 0}};
  });
  EXPECT_EQ(plan.job.table.rows[1].cores, "1,3");
  EXPECT_EQ(plan.assignment.places[1], (Cpus{1, 3}));
}

TEST(JobPlan, KeepsArenasBelowTheLimitOfFiles) {
  Facts facts = small_machine();
  facts.file_size_limit = 100'000'000;
  EXPECT_EQ(make_plan(parse_options({"p"}), facts, no_cores).arena_bytes, 95U * 1024 * 1024);
  facts.file_size_limit = 1000;
  EXPECT_THROW(make_plan(parse_options({"p"}), facts, no_cores), Error);
  EXPECT_NO_THROW(make_plan(parse_options({"--transport", "tcp", "p"}), facts, no_cores));
}

// Each rank maps the arenas of all ranks. Half of a rank's addresses are left to the program.
TEST(JobPlan, KeepsArenasBelowTheLimitOfAddresses) {
  Facts facts = small_machine();
  const Options options = parse_options({"-np", "4", "p"});
  facts.address_limit = 800'000'000;
  const JobPlan plan = make_plan(options, facts, no_cores);
  EXPECT_EQ(plan.arena_bytes, 95U * 1024 * 1024);
  EXPECT_THAT(
      plan.why,
      Contains(StartsWith("an arena of 95 MiB for each rank, as ulimit -v allows no more; ")));
  facts.address_limit = 8 * 1024 * 1024 - 1;
  EXPECT_THROW(make_plan(options, facts, no_cores), Error);
  EXPECT_NO_THROW(
      make_plan(parse_options({"-np", "4", "--transport", "tcp", "p"}), facts, no_cores));
}

TEST(JobPlan, HasAsManyRanksAsAWorldMay) {
  for (const char* transport : {"shm", "tcp"}) {
    const JobPlan plan = make_plan(parse_options({"-np", "4096", "--transport", transport, "p"}),
                                   small_machine(), no_cores);
    EXPECT_EQ(plan.job.table.rows.size(), 4096U);
  }
}

TEST(JobPlan, RefusesAWorldWhoseTableIsTooLong) {
  Facts facts = small_machine();
  facts.host = std::string(2000, 'x');
  const auto refusal = [&](const std::string& count) -> std::string {
    try {
      make_plan(parse_options({"-np", count, "--transport", "tcp", "p"}), facts, no_cores);
      return "";
    } catch (const UsageError& error) {
      return std::string("usage: ") + error.what();
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("1000"), "");
  EXPECT_THAT(refusal("4096"), StartsWith("usage: --np 4096: a table of that many ranks takes"));
  EXPECT_THAT(refusal("4096"), HasSubstr("give the hosts shorter names"));
  facts.file_size_limit = 100'000;
  EXPECT_EQ(refusal("10"), "");
  EXPECT_THAT(refusal("1000"),
              AllOf(StartsWith("--np 1000: "), HasSubstr("(ulimit -f): raise the limit")));
}

}  // namespace
}  // namespace rota::launcher
