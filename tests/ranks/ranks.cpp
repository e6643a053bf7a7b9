// Every rank prints the failures of its tests. Rank 0 prints the rest too.
#include "ranks/ranks.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace rota {
namespace {

Communicator* communicator_of_all = nullptr;

class FailuresOnly : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.failed()) std::fprintf(stderr, "%s\n", result.summary());
  }
};

}  // namespace

Communicator& the_communicator() { return *communicator_of_all; }

int run_tests_over(Communicator& communicator, std::size_t world_size) {
  communicator_of_all = &communicator;
  if (communicator.world_size() != world_size) {
    std::fprintf(stderr, "a world of %zu, not of %zu\n", communicator.world_size(), world_size);
    return 1;
  }
  if (communicator.rank() != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  return RUN_ALL_TESTS();
}

}  // namespace rota
