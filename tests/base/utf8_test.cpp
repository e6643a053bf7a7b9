// Long texts are cut between characters. tests/formats/ has the tests of characters.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::base {
namespace {

TEST(Cut, LeavesAShortTextWhole) {
  EXPECT_EQ(cut("", 0), "");
  EXPECT_EQ(cut("café", 5), "café");
  EXPECT_EQ(cut("caf\xc3", 4), "caf\xc3");
}

TEST(Cut, EndsWithAWholeCharacter) {
  const std::string text = "aé✓\U0001f600";
  const std::size_t wholes[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t most = 0; most < std::size(wholes); ++most) {
    EXPECT_EQ(cut(text, most), text.substr(0, wholes[most])) << most;
  }
}

TEST(Cut, CutsOtherBytesAnywhere) {
  const std::string text(20, '\x80');
  EXPECT_EQ(cut(text, 10), text.substr(0, 10));
  EXPECT_EQ(cut(text, 2), text.substr(0, 2));
}

}  // namespace
}  // namespace rota::base
