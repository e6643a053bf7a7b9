// Addresses of stream sockets: numbers, and local names. What other names stand for is asked by
// lib/names.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::os {

inline constexpr const char* kLoopback = "127.0.0.1";

// What a local name begins with, "@rota-0-job:7700": that of an abstract Unix socket. It belongs to
// a network namespace, as ports do, needs no file, and goes with whoever listens. Only processes of
// one user reach each other by it: os/tcp_socket.h.
inline constexpr char kLocalSign = '@';
inline constexpr std::size_t kLongestLocalName = 107;  // The port with it.

// A numeric address and a port, of either family; or a local name, whose host is loopback.
class Address {
 public:
  Address(const sockaddr* start, socklen_t bytes) noexcept;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t bytes() const noexcept { return bytes_; }
  int family() const noexcept { return storage_.ss_family; }

  bool is_loopback() const noexcept;
  bool is_any() const noexcept;  // "0.0.0.0", "::"

  // Who has it, as far as it tells: of IPv6 the first half, as a host has all of the other one.
  std::uint64_t source() const noexcept;
  std::uint16_t port() const noexcept;
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

// Throws Error kInvalidArgument for a text that is no numeric address, or local name, and a port.
Address parse_address(const std::string& text);

// The same of its two parts; empty where nobody but a name server knows the host.
std::optional<Address> numeric_address(const HostAndPort& parts);

// Whether the host of "host:port" is a number, or a local name. Throws Error kInvalidArgument for
// another form.
bool is_numeric(const std::string& text);

// "host:port" with another port: "a:1" and 2 make "a:2".
std::string with_port(const std::string& address, std::uint16_t port);

// The numbers by which others may reach this host, loopback and link-local ones left out:
// "10.0.0.1". Throws Error kSystem.
std::vector<std::string> own_addresses();

// This host's own number on the way to `target`: the one that it answers. Throws Error kSystem
// where there is no way.
std::string address_toward(const Address& target);

// As a system call gives it; one of IPv4 where it is that, over a socket of both families.
Address without_mapping(const sockaddr_storage& storage, socklen_t bytes);

// Of the socket's own end, without mapping. Throws Error kSystem.
Address local_address(int socket);

}  // namespace rota::os
