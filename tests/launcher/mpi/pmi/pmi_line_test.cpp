// Tests how bytes become lines, and lines become fields.
#include "launcher/mpi/pmi/pmi_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

TEST(PmiLine, HasFields) {
  const auto line = PmiLine::parse("cmd=put  kvsname=job key=a=b value= n=-3 m=4x key=c ");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text("cmd"), "put");
  EXPECT_EQ(line->text("key"), "a=b") << "the first counts";
  ASSERT_NE(line->find("value"), nullptr);
  EXPECT_EQ(*line->find("value"), "");
  EXPECT_EQ(line->find("other"), nullptr);
  EXPECT_EQ(line->number("n"), -3);
  EXPECT_EQ(line->number("m"), std::nullopt);
  EXPECT_EQ(line->number("value"), std::nullopt);
}

TEST(PmiLine, IsNoneOfOtherText) {
  for (const char* text : {"", "  ", "cmd", "cmd=get key", "=get", "cmd=get\tkey=a", "cmd=\x7f",
                           "endcmd", "cmd=get\r"}) {
    EXPECT_FALSE(PmiLine::parse(text)) << '"' << text << '"';
  }
}

TEST(PmiLines, AreCutWhereverTheBytesAre) {
  const std::string text = "cmd=init\n\ncmd=get\nrest";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    PmiLines lines;
    std::vector<std::string> found;
    for (const std::string& part : {text.substr(0, cut), text.substr(cut)}) {
      lines.append(part);
      while (auto line = lines.next()) found.push_back(*line);
    }
    EXPECT_THAT(found, ::testing::ElementsAre("cmd=init", "", "cmd=get")) << cut;
    EXPECT_EQ(lines.rest(), "rest");
    EXPECT_FALSE(lines.is_too_long());
  }
}

TEST(PmiLines, MayBeTooLong) {
  PmiLines longest;
  longest.append(std::string(kMostPmiLineBytes, 'a') + "\n");
  EXPECT_EQ(longest.next()->size(), kMostPmiLineBytes);
  PmiLines lines;
  lines.append(std::string(kMostPmiLineBytes + 1, 'a'));
  EXPECT_TRUE(lines.is_too_long());
  lines.append("\n");
  EXPECT_TRUE(lines.is_too_long());
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(PmiLines, AreQuotedWithoutControlCharacters) {
  EXPECT_EQ(quote_pmi_line("cmd=a\tb\xff"), "\"cmd=a?b?\"");
  EXPECT_EQ(quote_pmi_line(std::string(61, 'a')), '"' + std::string(60, 'a') + "...\"");
}

}  // namespace
}  // namespace rota::launcher
