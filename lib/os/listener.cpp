// Makes listening sockets. A process claims a port by binding a name that only one process can
// have.
#include "os/listener.h"

#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <rota/error.h>

#include "os/system_error.h"

namespace rota::os {
namespace {

void set_option(const Fd& socket, int level, int option, int value, const char* name) {
  if (::setsockopt(socket.get(), level, option, &value, sizeof value) != 0) {
    throw_errno(std::string("setting ") + name);
  }
}

[[noreturn]] void throw_failure(const std::string& what, int error_number) {
  if (error_number != EADDRINUSE) throw_errno(what, error_number);
  throw AddressInUse(what + ": " + std::generic_category().message(error_number));
}

Fd open_socket(int family) {
  return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Returns 0, or why the socket cannot be bound.
int try_to_bind(const Fd& socket, const Address& address) {
  // With this option, a port counts as free while its last connections are still closing.
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  return ::bind(socket.get(), address.get(), address.bytes()) == 0 ? 0 : errno;
}

Fd bound_socket(const Address& address) {
  Fd socket = open_socket(address.family());
  if (!socket) throw_errno("socket");
  const int failure = try_to_bind(socket, address);
  if (failure != 0) throw_failure("bind to " + address.to_text(), failure);
  return socket;
}

// Binds a socket for IPv4 and IPv6, or for IPv4 alone if the system has no IPv6. Such a system
// makes no socket of IPv6, or has no address for it.
Fd bind_everywhere(const std::string& port) {
  if (Fd both = open_socket(AF_INET6)) {
    set_option(both, IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
    const Address address = parse_address("[::]:" + port);
    const int failure = try_to_bind(both, address);
    if (failure == 0) return both;
    if (failure != EADDRNOTAVAIL) throw_failure("bind to " + address.to_text(), failure);
  }
  return bound_socket(parse_address("0.0.0.0:" + port));
}

Listener listen_with(Fd socket) {
  std::string bound = local_address(socket.get()).to_text();
  if (::listen(socket.get(), SOMAXCONN) != 0) throw_failure("listen at " + bound, errno);
  return {std::move(socket), std::move(bound)};
}

Listener listen_everywhere(const std::string& port) { return listen_with(bind_everywhere(port)); }

// An abstract name belongs to a network namespace, as ports do. It needs no file and disappears
// with the socket.
std::optional<Fd> claim_name(const std::string& name) {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) throw_errno("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const std::size_t bytes = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), generic, static_cast<socklen_t>(bytes)) == 0) return socket;
  if (errno == EADDRINUSE) return std::nullopt;
  throw_errno("bind to @" + name);
}

// Returns whether the port is free on every interface.
bool is_free(std::uint16_t port) {
  try {
    bind_everywhere(std::to_string(port));
    return true;
  } catch (const AddressInUse&) {
    return false;
  }
}

}  // namespace

Listener listen_on(const Address& address) {
  if (address.family() == AF_INET6 && address.is_any()) {
    return listen_everywhere(std::to_string(address.port()));
  }
  return listen_with(bound_socket(address));
}

Listener listen_on_loopback() { return listen_on(parse_address("127.0.0.1:0")); }

Listener listen_at(const std::string& address) {
  if (is_numeric(address)) return listen_on(parse_address(address));
  const auto [host, port] = split_address(address);
  if (host == "localhost") return listen_on(parse_address("127.0.0.1:" + port));
  return listen_everywhere(port);
}

std::optional<Listener> listen_between(const std::string& address, unsigned first, unsigned last,
                                       PassedPorts& passed) {
  for (unsigned port = first; port <= last; ++port) {
    const auto number = static_cast<std::uint16_t>(port);
    try {
      // A rotarun may have promised this port to its own ranks.
      const std::optional<Fd> claim = claim_port(number);
      if (claim) return listen_at(with_port(address, number));
      throw AddressInUse("port " + std::to_string(port) +
                         " is in use, or promised to ranks of another job");
    } catch (const AddressInUse& error) {
      passed = {.trouble = error.what(), .is_in_use = true};
    } catch (const Error& error) {
      passed.trouble = error.what();
    }
  }
  return std::nullopt;
}

std::optional<Fd> claim_port(std::uint16_t port) {
  std::optional<Fd> claim = claim_name("rota-port-" + std::to_string(port));
  if (claim && !is_free(port)) claim.reset();
  return claim;
}

}  // namespace rota::os
