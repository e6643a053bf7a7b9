// Tests TLS over a socket that takes few bytes per call, and over a socket that delivers more bytes
// than one call asks for. Also tests that a connection outlives the lifetime of a key.
#include "auth/tls.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "auth/talk.h"

namespace rota::auth {
namespace {

constexpr std::size_t kRecordHeadBytes = 5;
constexpr std::size_t kTagAndTypeBytes = 17;
constexpr std::size_t kKeyUpdateBytes = 5;

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() { std::tie(caller_socket_, answerer_socket_) = socket_pair(); }

  void meet(std::uint64_t records_per_key = Tls::kRecordsPerKey) {
    caller_.emplace(caller_socket_.get(), Tls::Side::kCaller, some_key(), records_per_key);
    answerer_.emplace(answerer_socket_.get(), Tls::Side::kAnswerer, some_key());
    for (int turn = 0; turn < 10; ++turn) {
      ASSERT_TRUE(caller_->shake_hands()) << caller_->why();
      ASSERT_TRUE(answerer_->shake_hands()) << answerer_->why();
    }
    ASSERT_TRUE(caller_->is_ready() && answerer_->is_ready());
    caller_->trust();
    answerer_->trust();
  }

  os::Fd caller_socket_;
  os::Fd answerer_socket_;
  std::optional<Tls> caller_;
  std::optional<Tls> answerer_;
};

TEST_F(TlsTest, BothEndsKnowTheirStreamAndTellItFromOthers) {
  meet();
  const Digest first = caller_->binding();
  EXPECT_EQ(first, answerer_->binding());
  std::tie(caller_socket_, answerer_socket_) = socket_pair();
  meet();
  EXPECT_NE(first, caller_->binding());
}

// Method: both sides send a head and then more than the sockets hold. They read in pieces that do
// not end where a record ends.
TEST_F(TlsTest, CarriesMoreThanTheSocketHoldsBothWays) {
  meet();
  const Bytes head = counting(72);
  const Bytes body = counting(3'000'000, 5);
  const Bytes all = joined({head, body});
  struct Way {
    Tls& from;
    Tls& to;
    std::size_t sent = 0;
    Bytes heard{};
  };
  Way ways[] = {{*caller_, *answerer_}, {*answerer_, *caller_}};
  bool was_full = false;
  for (int turn = 0; turn < 100'000; ++turn) {
    for (Way& way : ways) {
      const auto rest = std::span(all).subspan(way.sent);
      const auto of_head = rest.first(way.sent < head.size() ? head.size() - way.sent : 0);
      const os::Moved moved = way.from.send(of_head, rest.subspan(of_head.size()));
      ASSERT_FALSE(moved.closed) << moved.reason;
      was_full = was_full || (moved.bytes == 0 && !rest.empty());
      way.sent += moved.bytes;
    }
    if (turn < 30) continue;  // No side reads yet.
    for (Way& way : ways) {
      Bytes piece(10'007);
      const os::Moved moved = way.to.receive(piece);
      ASSERT_FALSE(moved.closed) << moved.reason;
      way.heard.insert(way.heard.end(), piece.begin(),
                       piece.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
    }
    if (ways[0].heard.size() + ways[1].heard.size() == 2 * all.size()) break;
  }
  EXPECT_TRUE(was_full);
  EXPECT_EQ(ways[0].heard, all);
  EXPECT_EQ(ways[1].heard, all);
}

TEST_F(TlsTest, SaysWhenTheSocketDoesNotTellOfWhatCame) {
  meet();
  EXPECT_FALSE(answerer_->has_unread());
  caller_->send(counting(100), {});
  Bytes heard(60);
  EXPECT_EQ(answerer_->receive(heard).bytes, 60U);
  EXPECT_TRUE(answerer_->has_unread());
  EXPECT_EQ(answerer_->receive(heard).bytes, 40U);
  EXPECT_FALSE(answerer_->has_unread());
}

// Method: the test counts the records in the socket. Then the receiver reads them, which shows that
// each record has the right key.
TEST_F(TlsTest, DrawsANewKeyAfterSoManyRecords) {
  meet(3);
  const Bytes text = counting(100);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(caller_->send(text, {}).bytes, text.size());
  Bytes raw(1 << 16);
  raw.resize(os::peek_some(answerer_socket_.get(), raw).bytes);
  std::size_t texts = 0;
  std::size_t updates = 0;
  for (std::size_t at = 0; at + kRecordHeadBytes <= raw.size();) {
    const std::size_t bytes =
        std::to_integer<std::size_t>(raw[at + 3]) << 8 | std::to_integer<std::size_t>(raw[at + 4]);
    texts += bytes == text.size() + kTagAndTypeBytes ? 1 : 0;
    updates += bytes == kKeyUpdateBytes + kTagAndTypeBytes ? 1 : 0;
    at += kRecordHeadBytes + bytes;
  }
  EXPECT_EQ(texts, 10U);
  EXPECT_EQ(updates, 3U);
  Bytes heard(1000);
  EXPECT_EQ(answerer_->receive(heard).bytes, heard.size());
  for (std::size_t i = 0; i < heard.size(); ++i) ASSERT_EQ(heard[i], text[i % text.size()]);
}

// The sender sends the longest possible record. Before the sender has proved its key, only
// kMostUnprovedBytes of the record are read.
TEST_F(TlsTest, ReadsLittleOfWhoHasNotProvedHimself) {
  answerer_.emplace(answerer_socket_.get(), Tls::Side::kAnswerer, some_key());
  Bytes said(5 + 16384);
  std::ranges::copy(from_hex("1603014000"), said.begin());
  ASSERT_EQ(os::send_some(caller_socket_.get(), said, {}).bytes, said.size());
  EXPECT_FALSE(answerer_->shake_hands());
  EXPECT_EQ(answerer_->why(), "it sent too much before it proved that it holds the key");
  Bytes rest(1 << 16);
  const std::size_t unread = os::receive_some(answerer_socket_.get(), rest).bytes;
  EXPECT_EQ(unread, said.size() - Tls::kMostUnprovedBytes);
}

TEST_F(TlsTest, GivesUpOnGarbageWithoutAWord) {
  for (const char* hex :
       {"16030100050000000000", "1603010005ffffffffff", "160000", "1501", "17030300050102030405"}) {
    std::tie(caller_socket_, answerer_socket_) = socket_pair();
    answerer_.emplace(answerer_socket_.get(), Tls::Side::kAnswerer, some_key());
    os::send_some(caller_socket_.get(), from_hex(hex), {});
    os::end_sending(caller_socket_.get());
    EXPECT_FALSE(answerer_->shake_hands()) << hex;
    answerer_socket_.reset();
    Bytes heard(1000);
    EXPECT_EQ(os::receive_some(caller_socket_.get(), heard).bytes, 0U) << hex;
  }
}

}  // namespace
}  // namespace rota::auth
