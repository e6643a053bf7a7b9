// Whoever does not hold the key gets nowhere, whatever he has heard and whatever he changes.
#include <gtest/gtest.h>

#include "auth/conversation.h"

namespace rota::auth {
namespace {

Bytes with_flipped(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  return bytes;
}

// Method: in each conversation one bit changes on its way. Who hears it changed ends there, and in
// time: not because more was to come. Its caller, who heard nothing, is not done either.
TEST(Handshake, NoticesAnyBitOfTheChallengeThatChanged) {
  for (std::size_t bit = 0; bit < 8 * accepted_conversation().challenge.size(); ++bit) {
    Conversation talk;
    talk.challenge = with_flipped(said_by(talk.answerer), bit);
    tell(talk.caller, talk.challenge);
    if (talk.caller.state() == State::kStranger) continue;
    talk.listen_to_call();  // The nonce tells the caller nothing, so that the answerer notices.
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

// Whoever answers knows it, and has nothing to prove: who moves the bytes may say farewell.
TEST(Handshake, TellsThatTheCallerHoldsAnotherKey) {
  Conversation talk{.answerer = Handshake::answer(some_key(1))};
  talk.listen_to_challenge();
  talk.listen_to_call();
  EXPECT_EQ(talk.answerer.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.why(), "it holds another key, or is of another job");
  EXPECT_EQ(talk.answerer.verdict(), Verdict::kOtherKey);
  EXPECT_TRUE(talk.answerer.to_send().empty());
  EXPECT_EQ(talk.caller.state(), State::kTalking);
}

// Anybody can have one, and could try keys on it at home.
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

// The id of the key is no secret: whoever has seen it can say it.
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
  EXPECT_EQ(answerer.why(), "it is no rota");
  EXPECT_TRUE(answerer.to_send().empty());
  EXPECT_TRUE(answerer.to_receive().empty());

  Conversation talk;
  tell(talk.caller, bytes_of("SSH-2.0-"));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(), "it is no rota");
}

// The header is all that releases have to agree about.
TEST(Handshake, TellsThatThePeerIsAnotherRelease) {
  Conversation talk;
  tell(talk.caller, joined({bytes_of("ROTA"), from_hex("00020100")}));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(),
            "it speaks another version of rota: its handshake is version 2, ours 1");
}

// Two that would both rather speak a better suite are not to be brought down to a worse one.
TEST(Handshake, LetsNobodyBetweenTheTwoChangeTheSuite) {
  Conversation talk;
  tell(talk.caller, joined({bytes_of("ROTA"), from_hex("00010000")}));
  EXPECT_EQ(talk.caller.state(), State::kStranger);
  EXPECT_EQ(talk.caller.why(), "it proves itself in another way: its suite is 0, ours 1");

  talk = Conversation();
  talk.listen_to_challenge();
  tell(talk.answerer, joined({bytes_of("ROTA"), from_hex("00010001")}));
  EXPECT_EQ(talk.answerer.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.why(), "it proves itself in another way: its suite is 0, ours 1");
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

// Even where they are dressed up as what is expected: the proof of a call is none of a verdict.
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
