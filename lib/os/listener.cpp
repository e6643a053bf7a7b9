// Binds, and says where.
#include "os/listener.h"

#include "os/system_error.h"

namespace rota::os {

namespace {

void set_option(const Fd& socket, int level, int option, int value, const char* name) {
  if (::setsockopt(socket.get(), level, option, &value, sizeof value) != 0) {
    throw_errno(std::string("setting ") + name);
  }
}

Listener open_at(Fd socket, const Address& address) {
  const std::string name = address.to_text();
  // A port whose last connections are still winding up is free.
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  if (::bind(socket.get(), address.get(), address.bytes()) != 0) throw_errno("bind to " + name);
  if (::listen(socket.get(), SOMAXCONN) != 0) throw_errno("listen at " + name);
  std::string bound = local_address(socket.get()).to_text();
  return {std::move(socket), std::move(bound)};
}

Fd open_socket(int family) {
  return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Of both families, as far as the system has them.
Listener listen_everywhere(const std::string& port) {
  Fd socket = open_socket(AF_INET6);
  if (!socket) return listen_on(parse_address("0.0.0.0:" + port));
  set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
  return open_at(std::move(socket), parse_address("[::]:" + port));
}

}  // namespace

Listener listen_on(const Address& address) {
  if (address.family() == AF_INET6 && address.is_any()) {
    return listen_everywhere(std::to_string(address.port()));
  }
  Fd socket = open_socket(address.family());
  if (!socket) throw_errno("socket");
  return open_at(std::move(socket), address);
}

Listener listen_on_loopback() { return listen_on(parse_address("127.0.0.1:0")); }

Listener listen_at(const std::string& address) {
  if (is_numeric(address)) return listen_on(parse_address(address));
  const auto [host, port] = split_address(address);
  if (host == "localhost") return listen_on(parse_address("127.0.0.1:" + port));
  return listen_everywhere(port);
}

}  // namespace rota::os
