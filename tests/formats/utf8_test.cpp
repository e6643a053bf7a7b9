// Which texts are UTF-8, and what replaces bytes that are not.
#include "formats/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::formats {
namespace {

TEST(Utf8, HasCharactersOfOneToFourBytes) {
  for (const char* text : {"", "loss/train", "Größe", "✓", "\U0001f600", "\u07ff\u0800\uffff",
                           "\ud7ff\ue000", "\U00010000\U0010ffff"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(to_utf8(text), text);
  }
  EXPECT_TRUE(is_utf8(std::string(1, '\0')));
}

TEST(Utf8, HasNoOtherBytes) {
  const std::string mark = "\xef\xbf\xbd";
  const struct {
    const char* text;
    std::string replaced;
  } rows[] = {
      {"a\xff"
       "b",
       "a" + mark + "b"},           // No byte of UTF-8.
      {"\xe4pfel", mark + "pfel"},  // Latin-1.
      {"\x80", mark},               // No first byte.
      {"\xc3", mark},               // Cut off.
      {"\xe2\x9c", mark + mark},
      {"\xf0\x9f\x98", mark + mark + mark},
      {"\xc0\x80", mark + mark},  // Longer than need be.
      {"\xe0\x9f\xbf", mark + mark + mark},
      {"\xf0\x8f\xbf\xbf", mark + mark + mark + mark},
      {"\xed\xa0\x80", mark + mark + mark},             // A surrogate.
      {"\xf4\x90\x80\x80", mark + mark + mark + mark},  // Beyond U+10FFFF.
      {"\xe2"
       "a\xc3\xa9",
       mark + "a\xc3\xa9"},
  };
  for (const auto& [text, replaced] : rows) {
    EXPECT_FALSE(is_utf8(text)) << replaced;
    EXPECT_EQ(to_utf8(text), replaced);
    EXPECT_TRUE(is_utf8(to_utf8(text)));
  }
}

}  // namespace
}  // namespace rota::formats
