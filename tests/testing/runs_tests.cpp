// A program that is to run tests and finds none has failed: GoogleTest would say that all of them
// passed, and a filter of a test that was renamed would pass for ever. Linked into every program.
#include <gtest/gtest.h>

namespace rota::testing {
namespace {

class NoTestsAreAFailure : public ::testing::EmptyTestEventListener {
  void OnTestProgramStart(const ::testing::UnitTest& program) override {
    if (program.test_to_run_count() > 0) return;
    ADD_FAILURE() << "no test of this program matches --gtest_filter=" << GTEST_FLAG_GET(filter);
  }
};

[[maybe_unused]] const bool kListens = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new NoTestsAreAFailure);
  return true;
}();

}  // namespace
}  // namespace rota::testing
