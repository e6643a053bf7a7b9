// A listening socket on the loopback interface, on a port that the system picks.
#include "os/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "os/system_error.h"

namespace rota::os {

Listener listen_on_loopback() {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_errno("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  if (::bind(socket.get(), generic, bytes) != 0) throw_errno("bind to 127.0.0.1");
  if (::listen(socket.get(), SOMAXCONN) != 0) throw_errno("listen");
  if (::getsockname(socket.get(), generic, &bytes) != 0) throw_errno("getsockname");
  return {std::move(socket), "127.0.0.1:" + std::to_string(ntohs(address.sin_port))};
}

}  // namespace rota::os
