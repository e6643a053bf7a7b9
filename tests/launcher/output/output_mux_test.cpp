// Lines of several ranks become one stream and stay whole. A time before a line is the correct
// calendar time.
#include "launcher/output/output_mux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Stream kOut = Stream::kOut;
constexpr Stream kErr = Stream::kErr;

std::vector<std::string> split(const std::vector<std::string>& parts) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto emit = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& part : parts) splitter.push(part, emit);
  splitter.finish(emit);
  return lines;
}

TEST(LineSplitter, CutsAtEveryLinesEnd) {
  EXPECT_THAT(split({"a\nb\n\nc"}), ElementsAre("a\n", "b\n", "\n", "c"));
  EXPECT_THAT(split({"1 %\r2 %\rdone\r\nnext\n"}),
              ElementsAre("1 %\r", "2 %\r", "done\r\n", "next\n"));
  EXPECT_THAT(split({"ab", "c\nd", "\n"}), ElementsAre("abc\n", "d\n"));
  EXPECT_THAT(split({}), IsEmpty());
}

TEST(LineSplitter, HandsOnALongLineInPieces) {
  const std::string line(150'000, 'x');
  const auto pieces = split({line.substr(0, 1000), line.substr(1000), "y\nz\n"});
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[0].size(), LineSplitter::kMostBytes);
  EXPECT_EQ(pieces[1].size(), LineSplitter::kMostBytes);
  EXPECT_EQ(pieces[0] + pieces[1] + pieces[2], line + "y\n");
  EXPECT_EQ(pieces[3], "z\n");
}

TEST(LineSplitter, CutsNoCharacterOfALongLine) {
  for (const std::string character : {"é", "€", "😀"}) {
    std::string line = "x";
    while (line.size() < 2 * LineSplitter::kMostBytes) line += character;
    // The parts end within characters too.
    const auto pieces = split({line.substr(0, 100), line.substr(100, 7), line.substr(107)});
    ASSERT_EQ(pieces.size(), 3U);
    EXPECT_EQ(pieces[0] + pieces[1] + pieces[2], line);
    EXPECT_TRUE(pieces[0].ends_with(character) && pieces[1].ends_with(character));
  }
  // In bytes that are no UTF-8, no byte waits for others.
  const auto pieces = split({std::string(LineSplitter::kMostBytes, '\xa4') + "y"});
  EXPECT_EQ(pieces[0].size(), LineSplitter::kMostBytes);
}

// Method: random strings in random pieces. No byte may be lost, and every line except the last has
// a line end or the greatest length.
TEST(LineSplitter, LosesNothingHoweverTheBytesCome) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::string text;
    const std::size_t bytes = random() % 200'000;
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto pick = random() % (trial % 2 == 0 ? 50 : 100'000);
      text += pick == 0 ? '\n' : pick == 1 ? '\r' : 'x';
    }
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t count = 1 + random() % 70'000;
      parts.push_back(text.substr(at, count));
      at += count;
    }
    const auto lines = split(parts);
    std::string joined;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      joined += lines[i];
      const bool is_whole = lines[i].back() == '\n' || lines[i].back() == '\r' ||
                            lines[i].size() == LineSplitter::kMostBytes;
      ASSERT_TRUE(is_whole || i + 1 == lines.size());
    }
    ASSERT_EQ(joined, text);
  }
}

OutputMux mux_of(std::size_t world_size, bool tags_lines = false, bool is_terminal = false) {
  OutputMux::Settings settings;
  settings.names.clear();
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    settings.names.push_back("rank " + std::to_string(rank));
  }
  settings.tags_lines = tags_lines;
  settings.is_joined = is_terminal;
  settings.is_terminal = {is_terminal, is_terminal};
  return OutputMux(settings);
}

TEST(OutputMux, KeepsLinesOfDifferentRanksApart) {
  OutputMux mux = mux_of(2);
  mux.on_bytes(0, kOut, "one ");
  mux.on_bytes(1, kOut, "other\n");
  EXPECT_EQ(mux.pending(kOut), "other\n");
  mux.on_bytes(0, kOut, "line\n");
  mux.on_bytes(0, kErr, "wrong\n");
  EXPECT_EQ(mux.pending(kOut), "other\none line\n");
  EXPECT_EQ(mux.pending(kErr), "wrong\n");
}

TEST(OutputMux, PassesOnALastLineWithoutAnEnd) {
  OutputMux mux = mux_of(2);
  mux.on_bytes(0, kOut, "no end");
  EXPECT_EQ(mux.pending(kOut), "");
  mux.on_end(0, kOut);
  EXPECT_EQ(mux.pending(kOut), "no end");
  mux.on_bytes(1, kOut, "next\n");
  EXPECT_EQ(mux.pending(kOut), "no end\nnext\n");
}

TEST(OutputMux, HoldsNothingBackWhenThereIsOneRank) {
  OutputMux mux = mux_of(1);
  mux.on_bytes(0, kOut, "name? ");
  EXPECT_EQ(mux.pending(kOut), "name? ");
  mux.on_bytes(0, kErr, "half a line");
  mux.say("rotarun: rank 0 was killed\n");
  EXPECT_EQ(mux.pending(kErr), "half a line\nrotarun: rank 0 was killed\n");
}

TEST(OutputMux, TagsLines) {
  OutputMux mux = mux_of(2, true);
  mux.on_bytes(1, kOut, "a\nb\n");
  mux.on_bytes(0, kErr, "c\n");
  mux.say("rotarun: untagged\n");
  EXPECT_EQ(mux.pending(kOut), "[rank 1] a\n[rank 1] b\n");
  EXPECT_EQ(mux.pending(kErr), "[rank 0] c\nrotarun: untagged\n");
}

TEST(OutputMux, PutsTheTimeBeforeTheTagOfEachLine) {
  for (const bool tags_lines : {false, true}) {
    OutputMux mux({.names = {"evaluator 3"}, .tags_lines = tags_lines, .has_times = true});
    const std::string tag = tags_lines ? "[evaluator 3] " : "";
    mux.set_time("T1");
    mux.on_bytes(0, kOut, "a\nb\r");
    mux.on_bytes(0, kOut, "half ");
    mux.set_time("T2");
    mux.on_bytes(0, kOut, "a line\n" + std::string(100'000, 'x') + "\n");
    mux.say("rotarun: no time\n");
    EXPECT_EQ(mux.pending(kOut), "T1 " + tag + "a\nT1 " + tag + "b\rT2 " + tag +
                                     "half a line\nT2 " + tag + std::string(100'000, 'x') + "\n");
    EXPECT_EQ(mux.pending(kErr), "rotarun: no time\n");
  }
}

TEST(OutputMux, TagsAPieceOfALongLineOnce) {
  OutputMux mux = mux_of(2, true);
  mux.on_bytes(1, kOut, std::string(100'000, 'x') + "\n");
  EXPECT_EQ(mux.pending(kOut), "[rank 1] " + std::string(100'000, 'x') + "\n");
}

TEST(OutputMux, ClearsALiveLineForAnothersOnATerminal) {
  OutputMux mux = mux_of(2, false, true);
  mux.on_bytes(0, kOut, "50 %\r");
  mux.on_bytes(0, kOut, "60 %\r");
  mux.on_bytes(1, kErr, "warning\n");
  mux.on_bytes(0, kOut, "70 %\r");
  EXPECT_EQ(mux.pending(kOut), "50 %\r60 %\r\x1b[2Kwarning\n70 %\r");
}

TEST(OutputMux, LeavesLiveLinesAsTheyAreInAFile) {
  OutputMux mux = mux_of(2);
  mux.on_bytes(0, kOut, "50 %\r");
  mux.on_bytes(1, kOut, "warning\n");
  EXPECT_EQ(mux.pending(kOut), "50 %\rwarning\n");
}

TEST(OutputMux, TakesALinesEndThatComesInTwoForOne) {
  OutputMux mux = mux_of(2, true);
  mux.on_bytes(0, kOut, "text\r");
  mux.on_bytes(0, kOut, "\n");
  EXPECT_EQ(mux.pending(kOut), "[rank 0] text\r\n");
}

TEST(OutputMux, GivesOutWhatIsPendingInParts) {
  OutputMux mux = mux_of(1);
  mux.on_bytes(0, kOut, "0123456789");
  mux.consume(kOut, 3);
  EXPECT_EQ(mux.pending(kOut), "3456789");
  mux.consume(kOut, 6);
  EXPECT_EQ(mux.pending(kOut), "9");
  mux.on_bytes(0, kOut, "ab");
  EXPECT_EQ(mux.pending(kOut), "9ab");
  mux.discard(kOut);
  EXPECT_EQ(mux.pending(kOut), "");
}

TEST(OutputMux, RemembersTheLastTenLinesOfEachRanksStderr) {
  OutputMux mux = mux_of(2);
  for (int i = 0; i < 25; ++i) mux.on_bytes(0, kErr, "line " + std::to_string(i) + "\n");
  mux.on_bytes(0, kErr, "unended");
  mux.on_bytes(0, kOut, "not this\n");
  const auto words = mux.last_words(0);
  ASSERT_EQ(words.size(), 10U);
  EXPECT_EQ(words.front(), "line 16");
  EXPECT_EQ(words.back(), "unended");
  EXPECT_THAT(mux.last_words(1), IsEmpty());
}

TEST(OutputMux, RemembersOnlyTheLastStateOfALiveLine) {
  OutputMux mux = mux_of(1);
  mux.on_bytes(0, kErr, "start\n10 %\r20 %\r30 %\rerror\r\n");
  EXPECT_THAT(mux.last_words(0), ElementsAre("start", "error"));
}

// The two bytes of a line's end may come in two reads.
TEST(OutputMux, RemembersALineWhoseEndComesInTwo) {
  OutputMux mux = mux_of(1);
  mux.on_bytes(0, kErr, "out of disk\r");
  mux.on_bytes(0, kErr, "\n");
  EXPECT_THAT(mux.last_words(0), ElementsAre("out of disk"));
  mux.on_bytes(0, kErr, "10 %\r20 %\r");
  mux.on_bytes(0, kErr, "\nerror\n");
  EXPECT_THAT(mux.last_words(0), ElementsAre("out of disk", "20 %", "error"));
}

TEST(OutputMux, RemembersNoMoreThanTheBeginningOfALongLine) {
  OutputMux mux = mux_of(1);
  mux.on_bytes(0, kErr, std::string(50'000, 'x') + "\n");
  EXPECT_EQ(mux.last_words(0).at(0).size(), 1000U);
  mux.on_bytes(0, kErr, std::string(1000, 'x') + "é\n" + std::string(999, 'x') + "é\n");
  EXPECT_EQ(mux.last_words(0).at(1), std::string(1000, 'x'));
  EXPECT_EQ(mux.last_words(0).at(2), std::string(999, 'x')) << "a part of a character";
}

// The ranks of the next world have the same numbers as the ranks of the world before.
TEST(OutputMux, BeginsAgainWithOthers) {
  OutputMux mux({.names = {"rank 0", "rank 1"}, .tags_lines = true});
  mux.on_bytes(0, kErr, "before\nand no end");
  mux.on_end(0, kErr);
  mux.begin({"rank 4"});
  EXPECT_THAT(mux.last_words(0), IsEmpty());
  mux.on_bytes(0, kErr, "after\n");
  EXPECT_EQ(mux.pending(kErr), "[rank 0] before\n[rank 0] and no end\n[rank 4] after\n");
  EXPECT_THAT(mux.last_words(0), ElementsAre("after"));
}

TEST(OutputMux, BeginsAgainBesideALiveLine) {
  OutputMux mux({.names = {"rank 0"}, .is_terminal = {true, true}});
  mux.on_bytes(0, kOut, "50 %\r");
  mux.begin({"rank 0"});
  mux.on_bytes(0, kOut, "1 %\r");
  EXPECT_EQ(mux.pending(kOut), "50 %\r\x1b[2K1 %\r");
}

std::string text_at(std::chrono::milliseconds since_1970) {
  return std::string(Timestamp(std::chrono::system_clock::time_point(since_1970)).text());
}

TEST(Timestamp, IsUtcToTheMillisecond) {
  EXPECT_EQ(text_at(std::chrono::milliseconds(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(text_at(std::chrono::milliseconds(1'700'000'000'042)), "2023-11-14T22:13:20.042Z");
  EXPECT_EQ(text_at(std::chrono::milliseconds(951'782'399'999)), "2000-02-28T23:59:59.999Z");
  EXPECT_EQ(text_at(std::chrono::milliseconds(951'782'400'000)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(text_at(std::chrono::milliseconds(4'102'444'799'001)), "2099-12-31T23:59:59.001Z");
}

TEST(Timestamp, CutsWhatIsFinerOff) {
  const std::chrono::system_clock::time_point time{std::chrono::nanoseconds(1'999'999)};
  EXPECT_EQ(Timestamp(time).text(), "1970-01-01T00:00:00.001Z");
}

}  // namespace
}  // namespace rota::launcher
