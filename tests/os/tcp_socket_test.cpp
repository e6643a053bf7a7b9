// Tests calls of TCP sockets whose outcome depends on the host, and not on a peer.
#include "os/tcp_socket.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

#include "os/address.h"
#include "os/fd.h"
#include "os/listener.h"
#include "testing/said_by_child.h"

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

// Makes this process one of a host without IPv6: a filter of system calls refuses such sockets. The
// lower half of an argument is at its start, as on all little-endian machines.
bool lose_ipv6() {
  const auto load = [](std::size_t offset) -> sock_filter {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
  };
  constexpr unsigned kAnswer = SECCOMP_RET_ERRNO;
  std::array<sock_filter, 6> rules = {{
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      load(offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kAnswer | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = rules.size(), .filter = rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A name may have addresses of both families: the failure of one must not end the calls.
TEST(HostWithoutIpv6, ListensAndCallsByIpv4) {
  const auto said = testing::said_by_child([]() -> std::string {
    if (!lose_ipv6()) return "no filter";
    const Listener listener = listen_at("[::]:0");
    const std::string port = split_address(listener.address).port;
    if (claim_port(parse_address(listener.address).port())) return "its port counts as free";
    const Connecting other = start_connect(parse_address("[::1]:" + port));
    const Connecting calling = start_connect(parse_address("127.0.0.1:" + port));
    return split_address(listener.address).host + ", " + other.failure.value_or("connected") +
           ", " + calling.failure.value_or("connected");
  });
  EXPECT_EQ(said, "0.0.0.0, Address family not supported by protocol, connected");
}

}  // namespace
}  // namespace rota::os
