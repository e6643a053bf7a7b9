// Messages between rotarun and its PMIx server arrive whole and in order, however long they are.
#include "launcher/pmix/wire/pmix_link.h"

#include <gtest/gtest.h>

#include "base/byte_stream.h"
#include "os/message_socket.h"

namespace rota::launcher {
namespace {

PmixMessage message_of(std::size_t bytes, char letter) {
  return {.type = PmixMessageType::kFound, .text = std::string(bytes, letter)};
}

class PmixLinks : public ::testing::Test {
 protected:
  PmixLinks() : PmixLinks(os::make_message_socket_pair()) {}

  // Lets both ends take turns until `count` messages have come.
  std::vector<PmixMessage> receive(std::size_t count) {
    std::vector<PmixMessage> all;
    for (int turn = 0; turn < 1000 && all.size() < count; ++turn) {
      ours_.send_all();
      for (PmixMessage& message : theirs_.receive()) all.push_back(std::move(message));
    }
    return all;
  }

  PmixLink ours_;
  PmixLink theirs_;

 private:
  explicit PmixLinks(std::pair<os::Fd, os::Fd> ends)
      : ours_(std::move(ends.first)), theirs_(std::move(ends.second)) {}
};

// A frame holds kMaxMessageBytes, and a message without text has 13 bytes.
TEST_F(PmixLinks, CarryMessagesOfAnyLength) {
  constexpr std::size_t kFrame = os::kMaxMessageBytes;
  std::vector<PmixMessage> sent;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kFrame - 15, kFrame - 14,
                                  kFrame - 13, kFrame, 2 * kFrame - 15, 5'000'000UL}) {
    sent.push_back(message_of(bytes, static_cast<char>('a' + sent.size())));
    ours_.send(sent.back());
  }
  EXPECT_FALSE(ours_.is_quiet());
  EXPECT_EQ(receive(sent.size()), sent);
  EXPECT_TRUE(ours_.is_quiet());
}

TEST_F(PmixLinks, GiveTheLastMessagesOfAnEndThatIsGone) {
  ours_.send(message_of(3, 'x'));
  ours_.send_all();
  ours_.close();
  EXPECT_EQ(theirs_.receive(), std::vector<PmixMessage>{message_of(3, 'x')});
  EXPECT_FALSE(theirs_.is_open());
  theirs_.send(message_of(3, 'y'));
  theirs_.send_all();
  EXPECT_TRUE(theirs_.is_quiet());
}

TEST(PmixLinkAlone, ClosesOverBytesThatAreNoMessage) {
  auto [ours, theirs] = os::make_message_socket_pair();
  PmixLink link(std::move(theirs));
  ASSERT_EQ(os::send_message(ours.get(), base::bytes_of(std::string_view("\0garbage", 8))),
            os::Io::kDone);
  EXPECT_TRUE(link.receive().empty());
  EXPECT_FALSE(link.is_open());
}

}  // namespace
}  // namespace rota::launcher
