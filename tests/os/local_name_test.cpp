// Tests local names, which are sockets on this host that only processes of the same user can reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

#include <rota/error.h>

#include "os/address.h"
#include "os/listener.h"
#include "os/tcp_socket.h"

namespace rota::os {
namespace {

using ::testing::HasSubstr;

// Returns a name that differs from the names of other tests that run at the same time.
std::string some_name() { return "@rota-test-" + std::to_string(::getpid()) + ":7700"; }

// Acts as another user while the object lives; only root can.
class Disguise {
 public:
  Disguise() { EXPECT_EQ(::seteuid(12345), 0); }
  Disguise(const Disguise&) = delete;
  Disguise& operator=(const Disguise&) = delete;
  ~Disguise() { EXPECT_EQ(::seteuid(0), 0); }
};

TEST(LocalName, IsAnAddressOfThisHost) {
  const Address address = parse_address("@rota-0-job:7700");
  EXPECT_EQ(address.to_text(), "@rota-0-job:7700");
  EXPECT_EQ(address.host(), "127.0.0.1");
  EXPECT_TRUE(address.is_loopback());
  EXPECT_FALSE(address.is_any());
  EXPECT_TRUE(is_numeric("@rota-0-job:7700"));
}

TEST(LocalName, HasRoomForSoMuch) {
  const std::string longest = "@" + std::string(kLongestLocalName - 2, 'x') + ":1";
  EXPECT_EQ(parse_address(longest).to_text(), longest);
  EXPECT_THROW(parse_address(longest + "1"), Error);
}

TEST(LocalName, IsOneListenersUntilThatCloses) {
  std::optional<Listener> first = listen_at(some_name());
  EXPECT_EQ(first->address, some_name());
  try {
    listen_at(some_name());
    ADD_FAILURE() << "two listeners have the same name";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("bind to " + some_name() + ": Address already in use"));
  }
  first.reset();
  EXPECT_EQ(start_connect(parse_address(some_name())).failure, "Connection refused");
  EXPECT_NO_THROW(listen_at(some_name()));
}

TEST(LocalName, LeadsToAConnectionLikeAnother) {
  const Listener listener = listen_at(some_name());
  EXPECT_FALSE(accept_connection(listener.socket.get()).socket);
  const Connecting calling = start_connect(parse_address(some_name()));
  ASSERT_EQ(calling.failure, std::nullopt);
  const Accepted accepted = accept_connection(listener.socket.get());
  ASSERT_TRUE(accepted.socket);
  EXPECT_EQ(accepted.caller->host(), "127.0.0.1");
  for (const int socket : {calling.socket.get(), accepted.socket.get()}) {
    EXPECT_EQ(connect_result(socket), std::nullopt);
    EXPECT_EQ(local_address(socket).host(), "127.0.0.1");
    EXPECT_NO_THROW(set_no_delay(socket));
    EXPECT_NO_THROW(keep_alive(socket));
    EXPECT_EQ(unacknowledged_for(socket), std::nullopt);
  }
  const std::array said{std::byte{1}, std::byte{2}};
  EXPECT_EQ(send_some(calling.socket.get(), said, {}).bytes, 2U);
  std::array<std::byte, 3> heard{};
  EXPECT_EQ(receive_some(accepted.socket.get(), heard).bytes, 2U);
  EXPECT_EQ(heard[1], std::byte{2});
  end_sending(calling.socket.get());
  EXPECT_TRUE(receive_some(accepted.socket.get(), heard).closed);
}

TEST(LocalName, IsNotCalledWhereAnotherUserListens) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  std::optional<Listener> listener;
  {
    const Disguise disguise;
    listener = listen_at(some_name());
  }
  EXPECT_EQ(start_connect(parse_address(some_name())).failure,
            "a process of another user listens there");
}

// Method: first a caller of another user connects, and does not check whose listener it has
// reached. Then a caller of this test's user connects.
TEST(LocalName, TakesNoCallerOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const Listener listener = listen_at(some_name());
  const Address address = parse_address(some_name());
  const Fd stranger(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const Disguise disguise;
    ASSERT_EQ(::connect(stranger.get(), address.get(), address.bytes()), 0);
  }
  const Connecting own = start_connect(address);
  ASSERT_EQ(own.failure, std::nullopt);
  const Accepted accepted = accept_connection(listener.socket.get());
  ASSERT_TRUE(accepted.socket);
  const std::array said{std::byte{7}};
  EXPECT_EQ(send_some(own.socket.get(), said, {}).bytes, 1U);
  std::array<std::byte, 1> heard{};
  EXPECT_EQ(receive_some(accepted.socket.get(), heard).bytes, 1U);
  EXPECT_FALSE(accept_connection(listener.socket.get()).socket);
  EXPECT_TRUE(receive_some(stranger.get(), heard).closed);
}

}  // namespace
}  // namespace rota::os
