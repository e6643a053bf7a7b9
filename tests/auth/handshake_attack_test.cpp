// An attacker without the key never completes a handshake, whatever bytes the attacker reads or
// changes.
#include <gtest/gtest.h>

#include "auth/conversation.h"

namespace rota::auth {
namespace {

Bytes with_flipped(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  return bytes;
}

// Method: in each conversation one bit changes on the way. The side that receives the changed bit
// ends the handshake. It ends immediately, instead of waiting for more bytes. A caller that
// received no answer has not completed the handshake either.
TEST(Handshake, NoticesAnyBitOfTheChallengeThatChanged) {
  for (std::size_t bit = 0; bit < 8 * accepted_conversation().challenge.size(); ++bit) {
    Conversation talk;
    talk.challenge = with_flipped(said_by(talk.answerer), bit);
    tell(talk.caller, talk.challenge);
    if (talk.caller.state() == State::kStranger) continue;
    talk.listen_to_call();  // The caller cannot check the nonce; the answerer can.
    EXPECT_EQ(talk.answerer.state(), State::kStranger) << "bit " << bit;
    EXPECT_EQ(talk.caller.state(), State::kTalking) << "bit " << bit;
  }
}

TEST(Handshake, NoticesAnyBitOfTheCallThatChanged) {
  for (std::size_t bit = 0; bit < 8 * accepted_conversation().call.size(); ++bit) {
    Conversation talk;
    talk.listen_to_challenge();
    tell(talk.answerer, with_flipped(said_by(talk.caller), bit));
    EXPECT_EQ(talk.answerer.state(), State::kStranger) << "bit " << bit;
    EXPECT_EQ(talk.answerer.identity(), Identity()) << "bit " << bit;
    EXPECT_TRUE(talk.answerer.to_send().empty()) << "bit " << bit;
    EXPECT_EQ(talk.caller.state(), State::kTalking) << "bit " << bit;
  }
}

void expect_any_bit_of_the_verdict_noticed(bool is_accepted) {
  for (std::size_t bit = 0; bit < 8 * accepted_conversation().verdict.size(); ++bit) {
    Conversation talk;
    talk.listen_to_challenge();
    talk.listen_to_call();
    if (is_accepted) {
      talk.answerer.accept();
    } else {
      talk.answerer.refuse(Verdict::kNever, "somebody else is that rank");
    }
    tell(talk.caller, with_flipped(said_by(talk.answerer), bit));
    EXPECT_EQ(talk.caller.state(), State::kStranger) << "bit " << bit;
  }
}

TEST(Handshake, NoticesAnyBitOfAnAcceptanceThatChanged) {
  expect_any_bit_of_the_verdict_noticed(true);
}

TEST(Handshake, NoticesAnyBitOfARefusalThatChanged) {
  expect_any_bit_of_the_verdict_noticed(false);
}

// The answerer detects that the caller holds another key. The answerer proves nothing to this
// caller, so its handshake sends nothing. A farewell, if any, comes from the code that moves the
// bytes.
TEST(Handshake, TellsThatTheCallerHoldsAnotherKey) {
  Conversation talk{.answerer = Handshake::answer(some_key(1))};
  talk.listen_to_challenge();
  talk.listen_to_call();
  EXPECT_EQ(talk.answerer.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.why(), "it holds another key, or belongs to another job");
  EXPECT_EQ(talk.answerer.verdict(), Verdict::kOtherKey);
  EXPECT_TRUE(talk.answerer.to_send().empty());
  EXPECT_EQ(talk.caller.state(), State::kTalking);
}

// Anybody can get a challenge, and then try keys on it without a connection. So the challenge must
// not depend on the key.
TEST(Handshake, SaysNothingOfTheKeyInItsChallenge) {
  Handshake one = Handshake::answer(some_key());
  Handshake other = Handshake::answer(some_key(1));
  const auto without_nonce = [](Handshake& answerer) {
    Bytes challenge = said_by(answerer);
    challenge.erase(challenge.end() - 32, challenge.end());
    return challenge;
  };
  EXPECT_EQ(without_nonce(one), without_nonce(other));
}

// The id of the key is not a secret: anyone who has seen it can repeat it.
TEST(Handshake, WantsTheKeyAndNotItsId) {
  Conversation talk;
  talk.listen_to_challenge();
  Handshake impostor = Handshake::call(some_key(1), some_identity());
  tell(impostor, talk.challenge);
  Bytes call = said_by(impostor);
  std::ranges::copy(key_id(some_key()), call.begin() + 8);
  tell(talk.answerer, call);
  EXPECT_EQ(talk.answerer.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.why(), "it cannot prove that it holds the key");
  EXPECT_TRUE(talk.answerer.to_send().empty());
}

TEST(Handshake, TellsWhatSpeaksAnotherLanguage) {
  Handshake answerer = Handshake::answer(some_key());
  said_by(answerer);
  tell(answerer, bytes_of("GET / HT"));
  EXPECT_EQ(answerer.state(), State::kStranger);
  EXPECT_EQ(answerer.why(), "it is not a rota program");
  EXPECT_TRUE(answerer.to_send().empty());
  EXPECT_TRUE(answerer.to_receive().empty());

  Conversation talk;
  tell(talk.caller, bytes_of("SSH-2.0-"));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(), "it is not a rota program");
}

// Different releases of rota have to agree only about the header.
TEST(Handshake, TellsThatThePeerIsAnotherRelease) {
  Conversation talk;
  tell(talk.caller, joined({bytes_of("ROTA"), from_hex("00020100")}));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(),
            "it uses another version of rota: the version of its handshake is 2, ours is 1");
}

// A suite says whether a peer encrypts. An attacker cannot make two peers use another suite than
// the one that both have.
TEST(Handshake, LetsNobodyBetweenTheTwoChangeTheSuite) {
  Conversation talk;
  tell(talk.caller, joined({bytes_of("ROTA"), from_hex("00010000")}));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(), "it authenticates in another way: its suite is 0, ours is 1");

  talk = Conversation();
  talk.listen_to_challenge();
  tell(talk.answerer, joined({bytes_of("ROTA"), from_hex("00010001")}));
  EXPECT_EQ(talk.answerer.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.why(), "it authenticates in another way: its suite is 0, ours is 1");
}

TEST(Handshake, IsNotDoneByItsOwnWordsThrownBack) {
  Conversation talk;
  tell(talk.answerer, said_by(talk.answerer));
  EXPECT_EQ(talk.answerer.state(), State::kStranger);

  talk = Conversation();
  talk.listen_to_challenge();
  tell(talk.caller, said_by(talk.caller));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
}

// The proof of a call is not a proof of a verdict, even inside a message with the form of a
// verdict.
TEST(Handshake, TakesNoProofOfACallForOneOfAVerdict) {
  const Bytes verdict = accepted_conversation().verdict;
  Conversation talk;
  talk.listen_to_challenge();
  const Bytes call = said_by(talk.caller);
  Bytes forged = verdict;
  std::copy(call.end() - 32, call.end(), forged.end() - 32);
  tell(talk.caller, forged);
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(), "it cannot prove that it holds the key");
}

TEST(Handshake, IsNotDoneByACallThatWasHeardBefore) {
  const Conversation heard = accepted_conversation();
  Handshake answerer = Handshake::answer(some_key());
  said_by(answerer);
  tell(answerer, heard.call);
  EXPECT_EQ(answerer.state(), State::kStranger);
  EXPECT_EQ(answerer.why(), "it cannot prove that it holds the key");
}

TEST(Handshake, IsNotDoneByAVerdictThatWasHeardBefore) {
  const Conversation heard = accepted_conversation();
  Handshake caller = Handshake::call(some_key(), some_identity());
  tell(caller, heard.challenge);
  EXPECT_NE(said_by(caller), heard.call);
  tell(caller, heard.verdict);
  EXPECT_EQ(caller.state(), State::kStranger);
}

}  // namespace
}  // namespace rota::auth
