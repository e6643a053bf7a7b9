// Tests which other rank a rank blames for an error, and with which message. Also tests how long a
// rank that gives up waits for a better reason. Method: a clock that the test sets.
#include "communicator/blame.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rota {
namespace {

using collectives::Collective;
using collectives::Signature;
using collectives::Wait;
using std::chrono::milliseconds;

constexpr std::size_t kOwn = 1;
constexpr std::size_t kPeer = 3;

Signature signature_of(Collective collective, std::size_t root = 0) {
  Signature signature({.collective = collective, .count = 9, .root = root}, kOwn);
  signature.set_sequence(7);
  return signature;
}

class BlameTest : public ::testing::Test {
 protected:
  BlameTest() {
    for (const char* host : {"a", "b", "c", "d"}) table_.rows.push_back({.host = host});
  }

  RankTable table_;
  Evidence evidence_{.rank = kOwn, .table = table_, .deadline = std::chrono::seconds(5)};
  const Wait wait_{.peer = kPeer, .step = 1, .step_count = 4, .bytes = 5, .step_bytes = 9};
  const std::string waiting_ = "receiving from rank 3 (d) (step 2 of 4, 5 of 9 bytes)";
};

void expect(const Error& error, ErrorCode code, const std::string& text,
            std::optional<std::size_t> blamed) {
  EXPECT_EQ(error.code(), code);
  EXPECT_EQ(error.what(), text);
  EXPECT_EQ(error.blamed_rank(), blamed);
}

TEST_F(BlameTest, SaysWhomItWaitsForAndHowFarItIs) {
  EXPECT_EQ(to_text(wait_, "rank 3 (d)"), waiting_);
  const Wait sending{
      .peer = kPeer, .sends = true, .step = 1, .step_count = 4, .bytes = 5, .step_bytes = 9};
  EXPECT_EQ(to_text(sending, "rank 3 (d)"), "sending to rank 3 (d) (step 2 of 4, 5 of 9 bytes)");
  EXPECT_EQ(to_text(Wait{.peer = kPeer}, "rank 3 (d)"),
            "waiting for rank 3 (d) to say why it gave up");
}

TEST_F(BlameTest, BlamesWhomItWaitedForInVain) {
  expect(timeout_of(wait_, evidence_), ErrorCode::kTimeout, waiting_ + " timed out after 5 s",
         kPeer);
}

// A call of MPI or NCCL tells of no rank. In a world of two, there is only one other rank.
TEST_F(BlameTest, SaysWhereItMayHaveWaitedForAnotherRank) {
  Wait any = wait_;
  any.is_any = true;
  expect(timeout_of(any, evidence_), ErrorCode::kTimeout,
         "receiving from rank 3 (d) or another rank (step 2 of 4, 5 of 9 bytes) timed out after "
         "5 s",
         kPeer);
  table_.rows.resize(2);
  any.peer = 0;
  expect(timeout_of(any, evidence_), ErrorCode::kTimeout,
         "receiving from rank 0 (a) (step 2 of 4, 5 of 9 bytes) timed out after 5 s", 0);
}

TEST_F(BlameTest, BlamesItselfWhereItsHostKeepsItFromMoving) {
  evidence_.trouble = "this host has no buffers";
  expect(timeout_of(wait_, evidence_), ErrorCode::kTimeout,
         waiting_ + " timed out after 5 s: this host has no buffers", kOwn);
}

TEST_F(BlameTest, NamesBothMessagesOfASwapInOneBuffer) {
  const Signature message = signature_of(Collective::kSend, kPeer);
  evidence_.oldest = signature_of(Collective::kReceive, kPeer);
  evidence_.held_up = message;
  const std::string both =
      "; " + to_text(message) + " waits for it, because both use the same memory";
  EXPECT_EQ(timeout_of(wait_, evidence_).what(), waiting_ + " timed out after 5 s" + both);
  evidence_.held_up = signature_of(Collective::kAllReduce);
  EXPECT_EQ(timeout_of(wait_, evidence_).what(), waiting_ + " timed out after 5 s");
  evidence_.held_up = message;
  evidence_.oldest = signature_of(Collective::kAllReduce);
  EXPECT_EQ(timeout_of(wait_, evidence_).what(), waiting_ + " timed out after 5 s");
}

TEST_F(BlameTest, SaysOfALostPeerHowItWentIfThatIsKnown) {
  const Error lost(ErrorCode::kPeerLost, "the connection ended", kPeer);
  expect(loss_of(lost, std::nullopt, evidence_), ErrorCode::kPeerLost,
         "rank 3 (d) was needed: the connection ended", kPeer);
  evidence_.wait = wait_;
  expect(loss_of(lost, "was killed by signal 9", evidence_), ErrorCode::kPeerLost,
         waiting_ + ", but it was killed by signal 9", kPeer);
  evidence_.wait->peer = 0;
  expect(loss_of(lost, "left", evidence_), ErrorCode::kPeerLost,
         "rank 3 (d) was needed, but it left", kPeer);
  expect(end_of(kPeer), ErrorCode::kPeerLost, "rank 3 has ended", kPeer);
}

TEST_F(BlameTest, SaysWhoItIsAndWhatItWasDoing) {
  const auto text_of = [&](ErrorCode code) {
    return std::string(in_own_words(Error(code, "why", kPeer), evidence_).what());
  };
  EXPECT_EQ(text_of(ErrorCode::kTimeout), "rank 1 (b): why");
  EXPECT_EQ(text_of(ErrorCode::kMismatch), "why") << "of no operation";
  evidence_.oldest = signature_of(Collective::kAllReduce);
  const std::string doing = "rank 1 (b): " + to_text(*evidence_.oldest) + ": why";
  EXPECT_EQ(text_of(ErrorCode::kTimeout), doing);
  EXPECT_EQ(text_of(ErrorCode::kPeerLost), doing);
  EXPECT_EQ(text_of(ErrorCode::kSystem), doing);
  EXPECT_EQ(text_of(ErrorCode::kMismatch), doing);
  EXPECT_EQ(text_of(ErrorCode::kAborted), "why") << "its own program said it";
  EXPECT_EQ(text_of(ErrorCode::kNoMemory), "why");
  expect(in_own_words(Error(ErrorCode::kTimeout, "why", kPeer), evidence_), ErrorCode::kTimeout,
         doing, kPeer);
}

TEST_F(BlameTest, RepeatsWhatOthersHaveSaid) {
  expect(told_by_peers({.rank = 2, .code = ErrorCode::kTimeout, .blamed = 0, .text = "why"}),
         ErrorCode::kAborted, "why", 0);
  expect(told_by_peers({.rank = 2, .code = ErrorCode::kMismatch, .blamed = {}, .text = "why"}),
         ErrorCode::kMismatch, "why", 2);
  const std::vector<std::size_t> members{10, 11, 12};
  expect(told_by_launcher(Error(ErrorCode::kAborted, "why", 12), members), ErrorCode::kAborted,
         "why", 2);
  expect(told_by_launcher(Error(ErrorCode::kAborted, "why", 13), members), ErrorCode::kAborted,
         "why", std::nullopt);
  expect(told_by_launcher(Error(ErrorCode::kMismatch, "why"), members), ErrorCode::kMismatch, "why",
         std::nullopt);
  EXPECT_EQ(blamed_in_job(Error(ErrorCode::kTimeout, "why", 2), members), 12U);
  EXPECT_EQ(blamed_in_job(Error(ErrorCode::kTimeout, "why", 3), members), std::nullopt);
  EXPECT_EQ(blamed_in_job(Error(ErrorCode::kTimeout, "why"), members), std::nullopt);
  expect(with_words_of(Error(ErrorCode::kAborted, "the first", 0), ErrorCode::kTimeout),
         ErrorCode::kTimeout, "the first", 0);
}

class ListeningTest : public ::testing::Test {
 protected:
  // Returns how long a rank that gives up listens, if it polls once a millisecond.
  base::Duration listen(bool knows_how = false) {
    const auto begin = now_;
    while (listening_.goes_on(now_, knows_how)) now_ += milliseconds(1);
    return now_ - begin;
  }

  base::TimePoint now_{std::chrono::seconds(1000)};
  Listening listening_{now_};
};

TEST_F(ListeningTest, EndsByItself) {
  EXPECT_EQ(listen(), Listening::kMost);
  EXPECT_FALSE(listening_.reason());
}

TEST_F(ListeningTest, IsNotNeededWhereOneKnowsHowAPeerWent) {
  EXPECT_EQ(listen(true), milliseconds(0));
}

TEST_F(ListeningTest, EndsWithWhatTheLauncherSays) {
  now_ += milliseconds(20);
  listening_.on_heard(Error(ErrorCode::kAborted, "rank 2 was the first", 2));
  EXPECT_EQ(listen(), milliseconds(0));
  EXPECT_STREQ(listening_.reason()->what(), "rank 2 was the first");
}

TEST_F(ListeningTest, TakesNoReasonOfALauncherThatIsGone) {
  listening_.on_heard(Error(ErrorCode::kSystem, "the launcher is gone"));
  EXPECT_EQ(listen(), milliseconds(0));
  EXPECT_FALSE(listening_.reason());
}

}  // namespace
}  // namespace rota
