// Only the peer of the handshake understands an encrypted stream. No attacker can make the two
// peers use an unencrypted stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "auth/conversation.h"
#include "auth/talk.h"

namespace rota::auth {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kChallengeBytes = 40;
constexpr std::size_t kSuiteIndex = 6;

const Credentials kEncrypts(some_key(), true);
const Credentials kPlain(some_key());
const Credentials kOther(some_key(9), true);

Digest some_digest(unsigned first) {
  Digest digest;
  std::ranges::copy(counting(digest.size(), first), digest.begin());
  return digest;
}

bool has(const Bytes& bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(text) !=
         std::string_view::npos;
}

// Returns whether an eavesdropper can read what the caller says to its peer.
bool is_overheard(Talk& talk) {
  const Bytes secret = bytes_of("what nobody else is to know");
  EXPECT_EQ(talk.caller.stream.send(secret, {}).bytes, secret.size());
  talk.pass_on();
  Bytes heard(1000);
  heard.resize(talk.answerer.stream.receive(heard).bytes);
  EXPECT_EQ(heard, secret);
  return has(talk.caller.said, "nobody else");
}

TEST(Encryption, LetsThoseInWhoHoldTheKey) {
  Talk talk(kEncrypts, kEncrypts);
  talk.run();
  ASSERT_EQ(talk.caller.handshake.state(), State::kDone) << talk.caller.handshake.why();
  ASSERT_EQ(talk.answerer.handshake.state(), State::kDone) << talk.answerer.handshake.why();
  EXPECT_EQ(talk.answerer.handshake.identity().from, 1U);
  const SessionKeys own = talk.caller.handshake.session_keys();
  const SessionKeys theirs = talk.answerer.handshake.session_keys();
  EXPECT_EQ(own.to_peer, theirs.from_peer);
  EXPECT_EQ(own.from_peer, theirs.to_peer);
}

TEST(Encryption, KeepsFromListenersWhatWouldBeHeardWithoutIt) {
  Talk encrypted(kEncrypts, kEncrypts);
  encrypted.run();
  EXPECT_FALSE(is_overheard(encrypted));
  Talk plain(kPlain, kPlain);
  plain.run();
  EXPECT_TRUE(is_overheard(plain));
}

// Only the challenge is readable. The other two messages are inside the encryption.
TEST(Encryption, BeginsAfterTheChallenge) {
  Talk talk(kEncrypts, kEncrypts);
  talk.run();
  EXPECT_TRUE(has(talk.answerer.said, "ROTA"));
  talk.answerer.said.erase(talk.answerer.said.begin(),
                           talk.answerer.said.begin() + kChallengeBytes);
  EXPECT_FALSE(has(talk.answerer.said, "ROTA"));
  EXPECT_FALSE(has(talk.caller.said, "ROTA"));
}

TEST(Encryption, TellsAStrangerNothing) {
  Talk talk(kOther, kEncrypts);
  talk.run();
  EXPECT_EQ(talk.answerer.handshake.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.handshake.why(), "it holds another key, or belongs to another job");
  EXPECT_NE(talk.caller.handshake.state(), State::kDone);
  EXPECT_EQ(talk.answerer.said.size(), kChallengeBytes);
}

TEST(Encryption, IsWhatBothHaveToMean) {
  Talk plain_caller(kPlain, kEncrypts);
  plain_caller.run();
  Talk plain_answerer(kEncrypts, kPlain);
  plain_answerer.run();
  const auto why = [](const Talk::End& end) {
    EXPECT_EQ(end.handshake.state(), State::kRefused);
    return end.handshake.why();
  };
  const std::string remedy = "let both sides encrypt (--encrypt, ROTA_ENCRYPT=1), or neither";
  const std::string peer_is_plain = "it does not encrypt, and this side does: " + remedy;
  const std::string peer_encrypts = "it encrypts, and this side does not: " + remedy;
  EXPECT_EQ(why(plain_caller.caller), peer_encrypts);
  EXPECT_EQ(why(plain_caller.answerer), peer_is_plain);
  EXPECT_EQ(why(plain_answerer.caller), peer_is_plain);
  EXPECT_EQ(why(plain_answerer.answerer), peer_encrypts);
}

// The suite in a message says whether its sender encrypts. If an attacker changes it, two peers
// with the same setting hang up. They never continue in clear text.
TEST(Encryption, CannotBeTalkedDown) {
  for (const Credentials& own : {kEncrypts, kPlain}) {
    Talk talk(own, own);
    bool is_first = true;
    talk.change = [&](Bytes& said, bool is_callers) {
      if (is_callers || said.size() <= kSuiteIndex || !std::exchange(is_first, false)) return;
      said[kSuiteIndex] ^= std::byte{3};  // Swaps the two suites.
    };
    talk.run();
    EXPECT_FALSE(is_first);
    EXPECT_EQ(talk.answerer.handshake.state(), State::kStranger);
    EXPECT_EQ(talk.answerer.handshake.why(), "it cannot prove that it holds the key");
    EXPECT_NE(talk.caller.handshake.state(), State::kDone);
    EXPECT_NE(talk.caller.handshake.state(), State::kRefused);
  }
}

// A man in the middle has one encrypted stream with each of the two peers. A proof from one stream
// is not valid in the other.
TEST(Encryption, BindsProofsToItsStream) {
  const auto state_of_answerer = [](unsigned of_caller, unsigned of_answerer) {
    Handshake caller = Handshake::call(kEncrypts, {});
    Handshake answerer = Handshake::answer(kEncrypts);
    tell(caller, said_by(answerer));
    caller.bind(some_digest(of_caller));
    answerer.bind(some_digest(of_answerer));
    tell(answerer, said_by(caller));
    return answerer.state();
  };
  EXPECT_EQ(state_of_answerer(1, 1), State::kAsking);
  EXPECT_EQ(state_of_answerer(1, 2), State::kStranger);
}

// A key holder can claim any suite, but an unencrypted message never counts as an encrypted one.
TEST(Encryption, IsNotAMatterOfWords) {
  Handshake caller = Handshake::call(kPlain, {});
  Handshake answerer = Handshake::answer(kEncrypts);
  const Bytes challenge = said_by(answerer);
  tell(caller, challenge);
  Bytes call = said_by(caller);
  call[kSuiteIndex] = std::byte{2};
  const auto words = std::span(call).first(call.size() - sizeof(Digest));
  const Digest proof =
      hmac_sha256(some_key().bytes(), joined({bytes_of("rota/1 C"), challenge, words}));
  std::ranges::copy(proof, call.begin() + static_cast<std::ptrdiff_t>(words.size()));
  answerer.stay_plain();
  tell(answerer, call);
  said_by(answerer);
  EXPECT_EQ(answerer.state(), State::kRefused);
  EXPECT_THAT(answerer.why(), HasSubstr("it does not encrypt"));
}

// An attacker changes one bit of the encrypted bytes on the way.
TEST(Encryption, EndsAtWhatWasChanged) {
  Talk talk(kEncrypts, kEncrypts);
  talk.run();
  talk.change = [](Bytes& said, bool /*is_callers*/) {
    if (!said.empty()) said.back() ^= std::byte{1};
  };
  talk.caller.stream.send(bytes_of("text"), {});
  talk.pass_on();
  Bytes heard(100);
  const os::Moved moved = talk.answerer.stream.receive(heard);
  EXPECT_EQ(moved.bytes, 0U);
  EXPECT_TRUE(moved.closed);
  EXPECT_THAT(moved.reason, HasSubstr("cannot be decrypted: "));
}

TEST(Encryption, SaysThatThePeerHasEnded) {
  Talk talk(kEncrypts, kEncrypts);
  talk.run();
  talk.caller.stream.send(bytes_of("text"), {});
  talk.caller.stream.reset();
  for (int i = 0; i < 3; ++i) talk.pass_on();
  Bytes heard(100);
  EXPECT_EQ(talk.answerer.stream.receive(heard).bytes, 4U);
  const os::Moved moved = talk.answerer.stream.receive(heard);
  EXPECT_TRUE(moved.closed);
  EXPECT_EQ(moved.reason, "closed by the peer");
}

}  // namespace
}  // namespace rota::auth
