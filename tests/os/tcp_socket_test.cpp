// Tests calls of TCP sockets whose outcome depends on the host, and not on a peer.
#include "os/tcp_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <string>

#include "os/address.h"
#include "os/fd.h"
#include "os/listener.h"

namespace rota::os {
namespace {

// Makes a socket that is connected to itself at a free port of `host`. Returns nothing if this host
// has no such address.
std::optional<Fd> connected_to_itself(const std::string& host) {
  const Address any_port = parse_address(host + ":0");
  Fd socket(::socket(any_port.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::bind(socket.get(), any_port.get(), any_port.bytes()) != 0) return std::nullopt;
  const Address own = local_address(socket.get());
  EXPECT_EQ(::connect(socket.get(), own.get(), own.bytes()), 0);
  return socket;
}

class OwnEnd : public ::testing::TestWithParam<const char*> {};

// The port must be free at once: a rank that starts late listens there.
TEST_P(OwnEnd, IsNobodyWhoListens) {
  std::optional<Fd> socket = connected_to_itself(GetParam());
  if (!socket) return;  // A host without IPv6.
  const std::string address = peer_address(socket->get()).to_text();
  EXPECT_EQ(connect_result(socket->get()), "Connection refused");
  socket.reset();
  EXPECT_EQ(listen_at(address).address, address);
}

INSTANTIATE_TEST_SUITE_P(TcpSocket, OwnEnd, ::testing::Values("127.77.0.1", "[::1]"));

}  // namespace
}  // namespace rota::os
