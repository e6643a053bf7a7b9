// Tests what a page of results leaves out or borrows. A limit (the best time that the machine can
// reach) is refused if rota is faster. Isolated calls that are too short are left out. A peer
// without a result in place is shown with its result out of place.
#include "contest/preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "contest/report.h"

namespace rota::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Roles kRoles{"rota shm", "limit"};

Row row_of(const std::string& name, std::size_t bytes, double seconds,
           Placement placement = Placement::kInPlace, Calls calls = Calls::kIsolated) {
  return {.name = name,
          .ranks = 2,
          .work = {.collective = Collective::kReduceScatter,
                   .placement = placement,
                   .total = bytes / sizeof(float)},
          .plan = "auto",
          .memory = Memory::kShared,
          .state = State::kWarm,
          .calls = calls,
          .min_seconds = seconds,
          .median_seconds = seconds,
          .p99_seconds = seconds,
          .errors = {},
          .peak_memory_bytes = 4096};
}

TEST(Limit, IsNoneWhereOursTakesLessTime) {
  const auto check = [](double ours) {
    check_limit(contests_of({row_of("rota shm", 1 << 20, ours), row_of("limit", 1 << 20, 1e-4)}),
                kRoles);
  };
  EXPECT_NO_THROW(check(2e-4));
  EXPECT_NO_THROW(check(0.977e-4));  // This prints as 102 %.
  EXPECT_THROW(check(0.974e-4), std::runtime_error);
  try {
    check(0.9e-4);
    FAIL() << "a share of 111 % was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("reduce-scatter of float32, sum, 2 ranks, warm, isolated"));
    EXPECT_THAT(error.what(), HasSubstr("1 MiB: rota shm is at 111 % of the limit"));
  }
}

// A machine may run twice as fast in one round as in another.
TEST(Limit, IsHeldAgainstOursRoundByRoundAtItsBest) {
  const auto check = [](const std::vector<double>& limits) {
    std::vector<Row> rows;
    for (const double ours : {1.2e-4, 2.4e-4, 1.2e-4}) rows.push_back(row_of("rota shm", 64, ours));
    for (const double limit : limits) rows.push_back(row_of("limit", 64, limit));
    check_limit(contests_of(rows), kRoles);
  };
  EXPECT_NO_THROW(check({9e-4, 1.1e-4, 2.2e-4, 9e-4, 1.1e-4, 9e-4}));
  EXPECT_NO_THROW(check({1.1e-4, 2.2e-4, 9e-4}));  // One round may be disturbed.
  EXPECT_THROW(check({1.1e-4, 3.0e-4, 1.3e-4}), std::runtime_error);
  EXPECT_THROW(check({1.1e-4, 2.2e-4}), std::runtime_error);  // The third round has no limit.
}

TEST(ShortCalls, AreShownBackToBackOnly) {
  std::vector<Row> rows;
  for (const Calls calls : {Calls::kIsolated, Calls::kBackToBack}) {
    rows.push_back(row_of("rota shm", 4, 2e-6, Placement::kInPlace, calls));
    rows.push_back(row_of("peer", 4, 0.9e-6, Placement::kInPlace, calls));
    rows.push_back(row_of("rota shm", 1024, 1e-6, Placement::kInPlace, calls));
    rows.push_back(row_of("limit", 1024, 0.5e-6, Placement::kInPlace, calls));  // Not a library.
  }
  auto contests = contests_of(rows);
  leave_out_short_calls(contests, kRoles);
  ASSERT_EQ(contests.size(), 2U);
  EXPECT_THAT(contests[0].left_out, ElementsAre(4));
  EXPECT_EQ(contests[0].sizes.size(), 1U);
  EXPECT_THAT(contests[1].left_out, IsEmpty());
  EXPECT_EQ(contests[1].sizes.size(), 2U);
  EXPECT_THAT(markdown_of(contests, kRoles),
              HasSubstr("The table leaves out sizes at which an isolated call of at least one "
                        "program takes less than 1 µs: 4 B.\n"));
}

TEST(ShortCalls, LeaveNoEmptyTable) {
  auto contests = contests_of({row_of("rota shm", 4, 0.2e-6)});
  leave_out_short_calls(contests, kRoles);
  EXPECT_EQ(markdown_of(contests, kRoles), "");
}

TEST(OutOfPlace, StandsInWhereAPeerHasNoFormInPlace) {
  const std::vector<Row> rows = {
      row_of("rota shm", 1024, 4e-6, Placement::kOutOfPlace),
      row_of("both", 1024, 8e-6, Placement::kOutOfPlace),
      row_of("other", 1024, 6e-6, Placement::kOutOfPlace),
      row_of("limit", 1024, 1e-6, Placement::kOutOfPlace),
      row_of("rota shm", 1024, 3e-6),
      row_of("both", 1024, 9e-6),
  };
  auto contests = contests_of(rows);
  borrow_out_of_place(contests, kRoles);
  ASSERT_EQ(contests.size(), 2U);
  const std::string in_place = markdown_of({contests[1]}, kRoles);
  EXPECT_THAT(in_place, HasSubstr("| size | rota shm, µs | both, µs | other (out of place), µs |"));
  EXPECT_THAT(in_place, HasSubstr("| 1 KiB | 3.00 | 9.00 | 6.00 | 0.50 (0.50 to 0.50) |"));
  EXPECT_THAT(markdown_of({contests[0]}, kRoles), Not(HasSubstr("(out of place)")));
}

}  // namespace
}  // namespace rota::bench
