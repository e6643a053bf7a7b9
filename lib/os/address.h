// Addresses of stream sockets: numbers, and the names that stand for them.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <string>

namespace rota::os {

// A numeric address and a port, of either family.
class Address {
 public:
  Address(const sockaddr* start, socklen_t bytes) noexcept;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t bytes() const noexcept { return bytes_; }
  int family() const noexcept { return storage_.ss_family; }

  bool is_loopback() const noexcept;
  std::string host() const;     // "10.0.0.1", "fd00::1"
  std::string to_text() const;  // "10.0.0.1:7001", "[fd00::1]:7001"

 private:
  sockaddr_storage storage_{};
  socklen_t bytes_ = 0;
};

// "host:port", taken apart; "[::1]:7001" without the brackets.
// Throws Error kInvalidArgument where it is not of that form.
struct HostAndPort {
  std::string host;
  std::string port;
};
HostAndPort split_address(const std::string& text);

// Throws Error kInvalidArgument for a text that is no numeric address and a port.
Address parse_address(const std::string& text);

// The same, and asks the system where the host is a name, which may take as long as its resolver
// takes. Throws Error kInvalidArgument for a text of another form.
struct Resolved {
  std::optional<Address> address;
  std::string failure;  // Why there is none, now.
};
Resolved resolve_address(const std::string& text);

// The same address, at a port that the system is to pick.
Address with_any_port(const Address& address);
Address any_port_on_loopback();

// Of the socket's own end. Throws Error kSystem.
Address local_address(int socket);

}  // namespace rota::os
