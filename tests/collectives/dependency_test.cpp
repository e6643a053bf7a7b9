// No plan waits too little or too much. If any one dependency is removed, two steps that touch the
// same elements have no order, or a rank may leave a barrier too early.
#include <gtest/gtest.h>

#include "collectives/every_request.h"
#include "testing/plan_conflicts.h"
#include "testing/plan_order.h"
#include "testing/plan_prover.h"

namespace rota {
namespace {

using collectives::PlanRequest;
using testing::find_conflict;
using testing::PlanOrder;

class DependencyTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::size_t n() const { return GetParam(); }

  // Removes each dependency in turn.
  static void check(const PlanRequest& request) {
    const auto requests = testing::for_each_rank(request);
    auto plans = testing::plans_of(requests);
    const auto flaw = find_conflict(PlanOrder(plans), requests);
    ASSERT_FALSE(flaw) << testing::describe(request) << ": " << *flaw;
    for (const auto& redundant : testing::redundant_dependencies(plans, requests)) {
      ADD_FAILURE() << testing::describe(request) << ": rank " << redundant.rank
                    << " could do without row " << redundant.row << " of what it waits for";
    }
  }
};

TEST_P(DependencyTest, NoneIsRedundant) {
  testing::for_every_kind(n(), [](const PlanRequest& request) { check(request); });
}

TEST_P(DependencyTest, NoneOfACodecIsRedundant) {
  testing::for_every_coded_kind(n(), [](const PlanRequest& request) { check(request); });
}

INSTANTIATE_TEST_SUITE_P(Worlds, DependencyTest, ::testing::Range<std::size_t>(2, 9),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace rota
