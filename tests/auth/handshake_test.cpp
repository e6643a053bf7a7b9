// Two peers with the same key accept each other, however their messages are cut into pieces.
#include "auth/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <utility>

#include "auth/conversation.h"

namespace rota::auth {
namespace {

TEST(Handshake, EndsWithBothSidesKnowingTheCaller) {
  Conversation talk;
  talk.listen_to_challenge();
  EXPECT_EQ(talk.caller.state(), State::kTalking);
  talk.listen_to_call();
  ASSERT_EQ(talk.answerer.state(), State::kAsking);
  EXPECT_EQ(talk.answerer.identity(), some_identity());
  EXPECT_TRUE(talk.answerer.to_send().empty());
  EXPECT_TRUE(talk.answerer.to_receive().empty());
  talk.answerer.accept();
  EXPECT_EQ(talk.answerer.state(), State::kTalking);
  talk.listen_to_verdict();
  EXPECT_EQ(talk.answerer.state(), State::kDone);
  EXPECT_EQ(talk.caller.state(), State::kDone);
}

TEST(Handshake, GivesEachDirectionOfEachConnectionItsOwnKey) {
  const Conversation one = accepted_conversation();
  const SessionKeys calling = one.caller.session_keys();
  const SessionKeys answering = one.answerer.session_keys();
  EXPECT_EQ(calling.to_peer, answering.from_peer);
  EXPECT_EQ(calling.from_peer, answering.to_peer);
  EXPECT_NE(calling.to_peer, calling.from_peer);
  const Conversation other = accepted_conversation();
  EXPECT_NE(other.caller.session_keys().to_peer, calling.to_peer);
  EXPECT_NE(other.caller.session_keys().from_peer, calling.from_peer);
}

// Moves one byte if there is one. Returns false if nothing moved.
bool move_one_byte(Handshake& from, Handshake& to) {
  if (from.to_send().empty()) return false;
  EXPECT_FALSE(to.to_receive().empty());
  to.to_receive().front() = from.to_send().front();
  from.sent(1);
  to.received(1);
  return true;
}

TEST(Handshake, GoesByteByByteToo) {
  Conversation talk;
  std::size_t byte_count = 0;
  while (move_one_byte(talk.answerer, talk.caller) || move_one_byte(talk.caller, talk.answerer)) {
    ++byte_count;
    if (talk.answerer.state() == State::kAsking) talk.answerer.accept();
  }
  EXPECT_EQ(byte_count, 414U);
  EXPECT_EQ(talk.caller.state(), State::kDone);
  EXPECT_EQ(talk.answerer.state(), State::kDone);
  EXPECT_EQ(talk.answerer.identity(), some_identity());
  EXPECT_EQ(talk.caller.session_keys().to_peer, talk.answerer.session_keys().from_peer);
}

// Each message arrives whole, with further bytes behind it. The handshake accepts only the message,
// and none of the further bytes.
TEST(Handshake, HasRoomForItsOwnMessagesAlone) {
  Conversation talk;
  const Bytes more = bytes_of("what the user says");
  Bytes said = said_by(talk.answerer);
  EXPECT_EQ(tell(talk.caller, joined({said, more})), said.size());
  said = said_by(talk.caller);
  EXPECT_EQ(tell(talk.answerer, joined({said, more})), said.size());
  talk.answerer.accept();
  said = said_by(talk.answerer);
  EXPECT_EQ(tell(talk.caller, joined({said, more})), said.size());
  EXPECT_EQ(talk.caller.state(), State::kDone);
}

// At any time, a socket may have no bytes to give, or no room for more. The state of the handshake
// then stays the same.
TEST(Handshake, IsNotMovedOnByNothing) {
  Conversation talk;
  const auto poke = [&] {
    for (Handshake* side : {&talk.caller, &talk.answerer}) {
      const State before = side->state();
      side->sent(0);
      side->received(0);
      EXPECT_EQ(side->state(), before);
    }
  };
  poke();
  while (move_one_byte(talk.answerer, talk.caller) || move_one_byte(talk.caller, talk.answerer)) {
    poke();
    if (talk.answerer.state() == State::kAsking) talk.answerer.accept();
    poke();
  }
  EXPECT_EQ(talk.caller.state(), State::kDone);
  EXPECT_EQ(talk.answerer.state(), State::kDone);
}

std::string refused_with(const std::string& reason) {
  Conversation talk;
  talk.listen_to_challenge();
  talk.listen_to_call();
  talk.answerer.refuse(Verdict::kNever, reason);
  EXPECT_EQ(talk.answerer.state(), State::kTalking);
  talk.listen_to_verdict();
  EXPECT_EQ(talk.answerer.state(), State::kRefused);
  EXPECT_EQ(talk.caller.state(), State::kRefused);
  EXPECT_EQ(talk.answerer.why(), talk.caller.why());
  return talk.caller.why();
}

TEST(Handshake, CarriesTheReasonOfARefusal) {
  EXPECT_EQ(refused_with("rank 3 is here already"), "rank 3 is here already");
  EXPECT_EQ(refused_with(""), "");
  const std::string longest(Handshake::kMaxReasonBytes, 'x');
  EXPECT_EQ(refused_with(longest), longest);
}

TEST(Handshake, CarriesWhatARefusalMeans) {
  for (const Verdict verdict : {Verdict::kNotNow, Verdict::kNever, Verdict::kOneEncrypts}) {
    Conversation talk;
    talk.listen_to_challenge();
    talk.listen_to_call();
    talk.answerer.refuse(verdict, "not now");
    talk.listen_to_verdict();
    EXPECT_EQ(talk.answerer.verdict(), verdict);
    EXPECT_EQ(talk.caller.verdict(), verdict);
  }
}

// The farewell comes in place of the challenge, or of the verdict.
TEST(Handshake, HearsAFarewell) {
  for (const Verdict verdict : {Verdict::kOtherKey, Verdict::kCrowded}) {
    for (const bool has_called : {false, true}) {
      Conversation talk;
      if (has_called) {
        talk.listen_to_challenge();
        talk.listen_to_call();
      }
      const Handshake::Farewell farewell = talk.answerer.farewell(verdict);
      tell(talk.caller, Bytes(farewell.begin(), farewell.end()));
      EXPECT_EQ(talk.caller.state(), State::kStranger);
      EXPECT_EQ(talk.caller.verdict(), verdict);
    }
  }
}

TEST(Handshake, TakesNoFarewellOfACaller) {
  Conversation talk;
  talk.listen_to_challenge();
  const Handshake::Farewell farewell = talk.caller.farewell(Verdict::kOtherKey);
  tell(talk.answerer, Bytes(farewell.begin(), farewell.end()));
  EXPECT_EQ(talk.answerer.state(), State::kStranger);
  EXPECT_EQ(talk.answerer.verdict(), Verdict::kNone);
}

TEST(Handshake, CutsALongReasonBetweenCharacters) {
  const std::string longest(Handshake::kMaxReasonBytes, 'x');
  EXPECT_EQ(refused_with(longest + "y"), longest);
  const std::string one_less(Handshake::kMaxReasonBytes - 1, 'x');
  EXPECT_EQ(refused_with(one_less + "é"), one_less);
}

// Returns the proof, made with the key, for the last message of `text`. The last 32 bytes of `text`
// are the place of the proof, and do not count.
Bytes proof(std::string_view label, const Bytes& text) {
  const Bytes labelled = joined({bytes_of(label), text});
  return bytes_of(hmac_sha256(some_key().bytes(), std::span(labelled).first(labelled.size() - 32)));
}

DataFormat other_byte_order() {
  using enum DataFormat::ByteOrder;
  return {.byte_order = DataFormat().byte_order == kLittle ? kBig : kLittle};
}

// Returns the reasons that the caller and the answerer give when they refuse because of these
// formats. The answerer never reaches kAsking, the state in which the answerer's user decides.
std::pair<std::string, std::string> refused_for(const DataFormat& of_caller,
                                                const DataFormat& of_answerer) {
  Conversation talk{.caller = Handshake::call(some_key(), some_identity(), of_caller),
                    .answerer = Handshake::answer(some_key(), 0, of_answerer)};
  talk.listen_to_challenge();
  talk.listen_to_call();
  EXPECT_EQ(talk.answerer.state(), State::kTalking);
  talk.listen_to_verdict();
  EXPECT_EQ(talk.answerer.state(), State::kRefused);
  EXPECT_EQ(talk.answerer.identity(), some_identity());
  EXPECT_EQ(talk.caller.state(), State::kRefused);
  return {talk.caller.why(), talk.answerer.why()};
}

TEST(Handshake, RefusesAHostOfAnotherByteOrder) {
  const std::string why = "its host has another byte order";
  EXPECT_EQ(refused_for(other_byte_order(), {}), std::pair(why, why));
  EXPECT_EQ(refused_for({}, other_byte_order()), std::pair(why, why));
}

TEST(Handshake, RefusesAHostThatFramesItsDataOtherwise) {
  const DataFormat next{.frame_version = 2};
  const std::string opening = "it uses another version of data frames: its version is ";
  EXPECT_EQ(refused_for(next, {}), std::pair(opening + "1, ours is 2", opening + "2, ours is 1"));
  EXPECT_EQ(refused_for({}, next), std::pair(opening + "2, ours is 1", opening + "1, ours is 2"));
}

// An incarnation is a number that distinguishes the starts of a job. Returns the incarnation that
// the caller knows after the handshake, given the incarnation that each side knew before; 0 if both
// sides refused.
std::uint64_t incarnation_between(std::uint64_t of_caller, std::uint64_t of_answerer) {
  Identity identity = some_identity();
  identity.incarnation = of_caller;
  Conversation talk{.caller = Handshake::call(some_key(), identity),
                    .answerer = Handshake::answer(some_key(), of_answerer)};
  talk.listen_to_challenge();
  talk.listen_to_call();
  if (talk.answerer.state() == State::kAsking) talk.answerer.accept();
  talk.listen_to_verdict();
  EXPECT_EQ(talk.caller.state(), talk.answerer.state());
  EXPECT_EQ(talk.caller.why(), talk.answerer.why());
  if (talk.caller.state() == State::kDone) return talk.caller.identity().incarnation;
  EXPECT_EQ(talk.caller.state(), State::kRefused);
  EXPECT_THAT(talk.caller.why(), ::testing::HasSubstr("another incarnation"));
  return 0;
}

TEST(Handshake, RefusesWhoKnowsTheJobInAnotherIncarnation) {
  EXPECT_EQ(incarnation_between(0, 7), 7U);
  EXPECT_EQ(incarnation_between(7, 7), 7U);
  EXPECT_EQ(incarnation_between(7, 0), 7U);
  EXPECT_EQ(incarnation_between(6, 7), 0U);
}

// Method: the answerer accepts a caller of another incarnation. The caller checks too, and refuses.
TEST(Handshake, TakesNoAcceptanceByAnotherIncarnation) {
  Conversation talk{.answerer = Handshake::answer(some_key())};
  talk.listen_to_challenge();
  talk.listen_to_call();
  talk.answerer.accept();
  Bytes verdict = said_by(talk.answerer);
  verdict[18] ^= std::byte{1};
  std::ranges::copy(proof("rota/1 S", joined({talk.challenge, talk.call, verdict})),
                    verdict.end() - 32);
  tell(talk.caller, verdict);
  EXPECT_EQ(talk.caller.state(), State::kRefused);
  EXPECT_THAT(talk.caller.why(), ::testing::HasSubstr("another incarnation"));
}

TEST(Handshake, DrawsADifferentIncarnationEachTime) {
  EXPECT_NE(new_incarnation(), 0U);
  EXPECT_NE(new_incarnation(), new_incarnation());
}

// Method: the answerer accepts a caller of another byte order. The caller checks too, and refuses.
TEST(Handshake, TakesNoAcceptanceByAHostOfAnotherByteOrder) {
  Conversation talk;
  talk.listen_to_challenge();
  talk.listen_to_call();
  talk.answerer.accept();
  Bytes verdict = said_by(talk.answerer);
  verdict[8] = static_cast<std::byte>(other_byte_order().byte_order);
  std::ranges::copy(proof("rota/1 S", joined({talk.challenge, talk.call, verdict})),
                    verdict.end() - 32);
  tell(talk.caller, verdict);
  EXPECT_EQ(talk.caller.state(), State::kRefused);
  EXPECT_EQ(talk.caller.why(), "its host has another byte order");
}

// Other releases and other programs must follow the table at the top of handshake.cpp.
TEST(Handshake, SaysWhatItsTableSays) {
  const Conversation talk = accepted_conversation();
  const Bytes id = bytes_of(key_id(some_key()));
  const Bytes header = joined({bytes_of("ROTA"), from_hex("000101")});
  const auto field = [](const Bytes& message, std::size_t begin, std::size_t bytes) {
    return bytes_of(std::span(message).subspan(begin, bytes));
  };
  const Bytes format = from_hex(std::endian::native == std::endian::little ? "0101" : "0201");
  const Bytes incarnation = from_hex("3132333435363738");

  ASSERT_EQ(talk.challenge.size(), 40U);
  EXPECT_EQ(field(talk.challenge, 0, 8), joined({header, from_hex("00")}));
  ASSERT_EQ(talk.call.size(), 123U);
  EXPECT_EQ(
      field(talk.call, 0, 59),
      joined({header, from_hex("01"), id, format, from_hex("02"), counting(16, 0x40), incarnation,
              from_hex("0102030405060708"), from_hex("11121314"), from_hex("21222324")}));
  EXPECT_EQ(field(talk.call, 91, 32), proof("rota/1 C", joined({talk.challenge, talk.call})));
  ASSERT_EQ(talk.verdict.size(), 251U);
  EXPECT_EQ(field(talk.verdict, 0, 219),
            joined({header, from_hex("02"), format, from_hex("01"), incarnation, Bytes(200)}));
  const Bytes all = joined({talk.challenge, talk.call, talk.verdict});
  EXPECT_EQ(field(talk.verdict, 219, 32), proof("rota/1 S", all));

  const Bytes nonces = joined({field(talk.challenge, 8, 32), field(talk.call, 59, 32)});
  Key derived;
  hkdf_sha256(some_key().bytes(), nonces, joined({bytes_of("rota/1 c2s"), sha256(all)}),
              derived.bytes());
  EXPECT_EQ(talk.caller.session_keys().to_peer, derived);
  hkdf_sha256(some_key().bytes(), nonces, joined({bytes_of("rota/1 s2c"), sha256(all)}),
              derived.bytes());
  EXPECT_EQ(talk.caller.session_keys().from_peer, derived);
}

}  // namespace
}  // namespace rota::auth
