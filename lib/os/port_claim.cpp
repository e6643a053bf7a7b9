// A port is asked for by binding to it, and claimed by a name that one process at a time can have.
#include "os/port_claim.h"

#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "os/address.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// An abstract name: it belongs to a network namespace, as ports do, needs no file, and goes with
// the socket.
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

// On every interface, and of both families where the system has both.
bool is_free(std::uint16_t port) {
  Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool has_both = static_cast<bool>(socket);
  if (!has_both) socket = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw_errno("socket");
  const int off = 0;
  const int on = 1;
  if (has_both) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  // Connections of an earlier job that are still winding up do not hold the port.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const Address everywhere =
      parse_address((has_both ? "[::]:" : "0.0.0.0:") + std::to_string(port));
  return ::bind(socket.get(), everywhere.get(), everywhere.bytes()) == 0;
}

}  // namespace

std::optional<Fd> claim_port(std::uint16_t port) {
  std::optional<Fd> claim = claim_name("rota-port-" + std::to_string(port));
  if (claim && !is_free(port)) claim.reset();
  return claim;
}

}  // namespace rota::os
