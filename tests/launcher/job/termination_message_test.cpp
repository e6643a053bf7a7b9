// Tests the message that a job writes for people who look at its container afterwards.
#include "launcher/job/termination_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/job/end_report.h"

namespace rota::launcher {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(TerminationMessage, HasWhatWasSaidAndTheCode) {
  EXPECT_EQ(
      termination_message("rank 1 exited with code 3\nits last lines of stderr:\n  a\n  b", 3),
      "rank 1 exited with code 3\nits last lines of stderr:\n  a\n  b\nexit code 3\n");
}

TEST(TerminationMessage, LeavesOutTheEarlierLinesThatARankSaid) {
  std::string words = "rank 1 died\nits last lines of stderr:";
  for (int i = 0; i < 30; ++i) words += "\n  " + std::to_string(i) + std::string(200, '.');
  const std::string message = termination_message(words, 3);
  EXPECT_LE(message.size(), kMostMessageBytes);
  EXPECT_GT(message.size(), kMostMessageBytes - 250);
  EXPECT_THAT(message, StartsWith("rank 1 died\nits last lines of stderr:\n  2"));
  EXPECT_THAT(message, EndsWith("\nexit code 3\n"));
  EXPECT_THAT(message, HasSubstr("\n  29."));
}

TEST(TerminationMessage, CutsAReasonAtTheEndOfACharacter) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string words(shift, 'a');
    while (words.size() < 3000) words += "\xF0\x9F\x90\x8C";
    const std::string message = termination_message(words, 200);
    EXPECT_LE(message.size(), kMostMessageBytes);
    EXPECT_THAT(message, EndsWith("\x9F\x90\x8C\nexit code 200\n"));
    EXPECT_THAT(message, Not(HasSubstr("?")));
  }
}

TEST(TerminationMessage, ReplacesWhatIsNoText) {
  EXPECT_EQ(termination_message("a\x80z \xC3\xA9 \xE2\x82 \x1B[1m \xED\xA0\x80 \xC0\x80", 1),
            "a?z \xC3\xA9 ?? ?[1m ??? ??\nexit code 1\n");
}

TEST(NotedCause, StaysWhateverIsSaidAfterIt) {
  forget_reason();
  note_reason("waiting");
  note_cause("");
  EXPECT_EQ(noted_words(), "waiting");
  note_cause("rotarun: rank 1 died\nrotarun: its last lines of stderr:\nrotarun:   oh\n");
  note_reason("some processes could not be ended");
  note_cause("another");
  EXPECT_EQ(noted_words(), "rank 1 died\nits last lines of stderr:\n  oh");
  EXPECT_EQ(noted_reason(), "rank 1 died");
  forget_reason();
  EXPECT_EQ(noted_words(), "");
}

}  // namespace
}  // namespace rota::launcher
