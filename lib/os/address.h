// Has addresses of stream sockets: numeric addresses and local names. lib/names resolves other
// names.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rota::os {

inline constexpr const char* kLoopback = "127.0.0.1";

// The first character of a local name, such as "@rota-0-job:7700". A local name is the name of an
// abstract Unix socket. Like a port, a local name belongs to a network namespace. It needs no file,
// and disappears with the listening socket. Only processes of the same user can connect over a
// local name: see os/tcp_socket.h.
inline constexpr char kLocalSign = '@';
inline constexpr std::size_t kLongestLocalName = 107;  // In bytes, including the port.

// A numeric IPv4 or IPv6 address with a port, or a local name. The host of a local name is
// loopback.
class Address {
 public:
  Address(const sockaddr* start, socklen_t bytes) noexcept;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t bytes() const noexcept { return bytes_; }
  int family() const noexcept { return storage_.ss_family; }

  // Both functions regard an IPv4 address in the form of IPv6, such as "::ffff:127.0.0.1", as the
  // IPv4 address.
  bool is_loopback() const noexcept;
  bool is_any() const noexcept;  // "0.0.0.0", "::"

  // Returns a number that identifies the host of the address. For IPv6, the number is the first 64
  // bits of the address, because one host can use every address that begins with these bits.
  std::uint64_t source() const noexcept;
  std::uint16_t port() const noexcept;
  std::string host() const;     // "10.0.0.1", "fd00::1"
  std::string to_text() const;  // "10.0.0.1:7001", "[fd00::1]:7001"

 private:
  sockaddr_storage storage_{};
  socklen_t bytes_ = 0;
};

// Splits "host:port" in two, and removes the brackets of "[::1]:7001". Throws Error
// kInvalidArgument for a string of another form.
struct HostAndPort {
  std::string host;
  std::string port;
};
HostAndPort split_address(const std::string& text);

// Parses a numeric address or a local name, with a port. Throws Error kInvalidArgument for any
// other text.
Address parse_address(const std::string& text);

// Returns the address of a text that split_address() has split. Returns nothing when the host is a
// name for a name server, or a local name that is too long.
std::optional<Address> numeric_address(const HostAndPort& parts);

// Returns whether the host of "host:port" is numeric or a local name. Throws Error kInvalidArgument
// for a string of another form.
bool is_numeric(const std::string& text);

// Returns "host:port" with another port: "a:1" and 2 make "a:2".
std::string with_port(const std::string& address, std::uint16_t port);

// Returns the numeric addresses through which other hosts may reach this host, such as "10.0.0.1".
// Leaves out loopback and IPv6 link-local addresses. Throws Error kSystem.
std::vector<std::string> own_addresses();

// Returns this host's own numeric address on the route to the first of `targets` to which there is
// a route: the target sends its answers to this address. `targets` are the addresses of one host,
// at least one. Throws Error kSystem, about the last target, when there is no route to any of them.
std::string address_toward(std::span<const Address> targets);

// Returns the address that a system call has stored. If a socket of both families shows an IPv4
// address as IPv6, the result is the IPv4 address.
Address without_mapping(const sockaddr_storage& storage, socklen_t bytes);

// Return the addresses of the socket's own end and of the other end, in the form of
// without_mapping(). Throw Error kSystem.
Address local_address(int socket);
Address peer_address(int socket);

}  // namespace rota::os
