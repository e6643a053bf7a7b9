// Times as text, against what a calendar says.
#include "launcher/output/timestamp.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

std::string text_at(std::chrono::milliseconds since_1970) {
  return std::string(Timestamp(system_clock::time_point(since_1970)).text());
}

TEST(Timestamp, IsUtcToTheMillisecond) {
  EXPECT_EQ(text_at(milliseconds(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(text_at(milliseconds(1'700'000'000'042)), "2023-11-14T22:13:20.042Z");
  EXPECT_EQ(text_at(milliseconds(951'782'399'999)), "2000-02-28T23:59:59.999Z");
  EXPECT_EQ(text_at(milliseconds(951'782'400'000)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(text_at(milliseconds(4'102'444'799'001)), "2099-12-31T23:59:59.001Z");
}

TEST(Timestamp, CutsWhatIsFinerOff) {
  const system_clock::time_point time{nanoseconds(1'999'999)};
  EXPECT_EQ(Timestamp(time).text(), "1970-01-01T00:00:00.001Z");
}

}  // namespace
}  // namespace rota::launcher
