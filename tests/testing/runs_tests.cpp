// Makes a test program fail if it finds no tests to run. GoogleTest would report success, so a
// filter for a renamed test would pass for ever. Linked into every test program.
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
