// Messages between two ranks with an encrypted connection arrive whole and in order, and wake their
// receiver without polling. Method: both ends are real transports in one thread. The messages are
// longer than a slot and than a TLS record, and do not fit into the sockets' buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "auth/handshake_io.h"
#include "testing/tcp_world.h"
#include "transport/tcp/transport.h"

namespace rota::transport::tcp {
namespace {

using base::Clock;
using testing::kVeryLong;

std::unique_ptr<Transport> transport_over(auth::Stream stream) {
  std::vector<auth::Stream> streams(2);
  streams[1] = std::move(stream);
  return std::make_unique<Transport>(std::move(streams));
}

class TcpEncryptedTest : public ::testing::Test {
 protected:
  TcpEncryptedTest() {
    const auth::Credentials own(auth::random_key(), true);
    auto [caller, answerer] = testing::connected_sockets();
    auth::Stream ends[] = {std::move(caller), std::move(answerer)};
    for (const auth::Stream& end : ends) os::set_no_delay(end.fd());
    auth::Handshake handshakes[] = {auth::Handshake::call(own, {}), auth::Handshake::answer(own)};
    const auto end_time = Clock::now() + kVeryLong;
    while (handshakes[0].state() != auth::Handshake::State::kDone && Clock::now() < end_time) {
      for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(auth::advance(handshakes[i], ends[i]));
      if (handshakes[1].state() == auth::Handshake::State::kAsking) handshakes[1].accept();
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(ends[i].is_encrypted());
      transports_[i] = transport_over(std::move(ends[i]));
    }
  }

  SocketChannel& channel(std::size_t rank) {
    return static_cast<SocketChannel&>(transports_[rank]->channel(1));
  }

  std::unique_ptr<Transport> transports_[2];
};

std::vector<double> values_from(double first, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = first++;
  return values;
}

// One side receives into the caller's memory, the other side through the slot.
TEST_F(TcpEncryptedTest, LongMessagesCrossEachOther) {
  const std::vector<double> sent[] = {values_from(0, 500'000), values_from(7, 500'000)};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto payload = std::as_bytes(std::span(sent[rank]));
    channel(rank).start_send({.bytes = payload.size(), .signature = {}}, payload);
  }
  std::vector<double> direct(sent[1].size());
  std::vector<double> slotted;
  std::size_t received = 0;
  const std::size_t bytes = direct.size() * sizeof(double);
  const auto end = Clock::now() + kVeryLong;
  while (Clock::now() < end && (received < bytes || slotted.size() < sent[0].size() ||
                                channel(0).sending() || channel(1).sending())) {
    for (std::size_t rank = 0; rank < 2; ++rank) channel(rank).progress_send();
    if (channel(0).incoming()) {
      received += channel(0).receive(std::as_writable_bytes(std::span(direct)).subspan(received));
    }
    if (channel(1).incoming() && slotted.size() < sent[0].size()) {
      const auto view = channel(1).peek();
      const auto* elements = reinterpret_cast<const double*>(view.data());
      const std::size_t count = view.size() / sizeof(double);
      slotted.insert(slotted.end(), elements, elements + count);
      channel(1).release(count * sizeof(double));
    }
  }
  EXPECT_EQ(direct, sent[1]);
  EXPECT_EQ(slotted, sent[0]);
  EXPECT_EQ(transports_[0]->sent_bytes(), bytes);
}

// A header and its payload may share a record, which the socket reports only once.
TEST_F(TcpEncryptedTest, NobodyRestsWhileSomethingIsUnread) {
  const std::vector<double> sent = values_from(1, 1000);
  const auto payload = std::as_bytes(std::span(sent));
  channel(1).start_send({.bytes = payload.size(), .signature = {}}, payload);
  while (channel(1).sending()) channel(1).progress_send();
  std::vector<double> heard(sent.size());
  std::size_t received = 0;
  const auto start = Clock::now();
  while (received < payload.size() && Clock::now() < start + kVeryLong) {
    if (channel(0).incoming()) {
      received += channel(0).receive(std::as_writable_bytes(std::span(heard)).subspan(received));
    }
    if (channel(0).starved()) transports_[0]->sleep(kVeryLong);
  }
  EXPECT_LT(Clock::now() - start, kVeryLong / 2);
  EXPECT_EQ(heard, sent);
}

TEST_F(TcpEncryptedTest, APeerThatEndedIsLost) {
  transports_[1].reset();
  const auto wait = [this] {
    const auto end = Clock::now() + kVeryLong;
    while (Clock::now() < end && !channel(0).incoming()) transports_[0]->sleep(kVeryLong);
  };
  EXPECT_THROW(wait(), Error);
}

// Method: rank 1 has sent a message, and ends without reading. So the kernel refuses what rank 0
// sends, while the message of rank 1 is still unread.
TEST_F(TcpEncryptedTest, AFailedSendLosesNothingThatThePeerHadSent) {
  const std::vector<double> sent = values_from(1, 1000);
  const auto payload = std::as_bytes(std::span(sent));
  channel(1).start_send({.bytes = payload.size(), .signature = {}}, payload);
  ASSERT_EQ(channel(1).progress_send(), Progress::kDone);
  channel(0).start_send({}, {});
  ASSERT_EQ(channel(0).progress_send(), Progress::kDone);
  transports_[1].reset();
  const auto end = Clock::now() + kVeryLong;
  Progress progress = Progress::kDone;
  while (progress == Progress::kDone && Clock::now() < end) {
    channel(0).start_send({}, {});
    progress = channel(0).progress_send();
  }
  ASSERT_EQ(progress, Progress::kNone);

  ASSERT_NE(channel(0).incoming(), nullptr);
  std::vector<double> heard(sent.size());
  EXPECT_EQ(channel(0).receive(std::as_writable_bytes(std::span(heard))), payload.size());
  channel(0).finish_receive();
  EXPECT_EQ(heard, sent);
  EXPECT_THROW(channel(0).progress_send(), Error);
}

}  // namespace
}  // namespace rota::transport::tcp
