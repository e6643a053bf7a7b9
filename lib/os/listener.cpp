// Binds, and says where.
#include "os/listener.h"

#include "os/system_error.h"

namespace rota::os {

Listener listen_on(const Address& address) {
  const std::string name = address.to_text();
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_errno("socket");
  // A port whose last connections are still winding up is free.
  const int on = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) {
    throw_errno("setting SO_REUSEADDR");
  }
  if (::bind(socket.get(), address.get(), address.bytes()) != 0) throw_errno("bind to " + name);
  if (::listen(socket.get(), SOMAXCONN) != 0) throw_errno("listen at " + name);
  std::string bound = local_address(socket.get()).to_text();
  return {std::move(socket), std::move(bound)};
}

Listener listen_on_loopback() { return listen_on(any_port_on_loopback()); }

Listener listen_everywhere(const Address& address) {
  const std::string port = split_address(address.to_text()).port;
  return listen_on(parse_address((address.family() == AF_INET6 ? "[::]:" : "0.0.0.0:") + port));
}

}  // namespace rota::os
