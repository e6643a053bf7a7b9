// Parses and prints numeric addresses and local names, and finds this host's own addresses.
#include "os/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>

#include "os/fd.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

[[noreturn]] void throw_malformed(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument,
              "'" + text + "' is not an address and a port, such as 10.0.0.1:7001");
}

bool is_port(const std::string& text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, port);
  return result.ec == std::errc() && result.ptr == end;
}

// An abstract socket name begins with a zero byte. It has no terminator: the address length gives
// its end.
constexpr std::size_t kNameOffset = offsetof(sockaddr_un, sun_path) + 1;
static_assert(kNameOffset + kLongestLocalName == sizeof(sockaddr_un));

std::optional<Address> local_name(const HostAndPort& parts) {
  const std::string name = parts.host.substr(1) + ":" + parts.port;
  if (name.size() > kLongestLocalName) return std::nullopt;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return Address(reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(kNameOffset + name.size()));
}

std::string own_end_of_route(const Address& target) {
  const Fd socket(::socket(target.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) throw_errno("socket");
  if (::connect(socket.get(), target.get(), target.bytes()) != 0) {  // A UDP connect sends nothing.
    const int error_number = errno;  // The look at an interface's name may change errno.
    throw_errno("finding a route to " + target.host(), error_number);
  }
  return local_address(socket.get()).host();
}

}  // namespace

Address::Address(const sockaddr* start, socklen_t bytes) noexcept
    : bytes_(std::min(bytes, static_cast<socklen_t>(sizeof storage_))) {
  std::memcpy(&storage_, start, bytes_);
}

bool Address::is_loopback() const noexcept {
  const Address plain = without_mapping(storage_, bytes_);
  if (plain.family() == AF_INET) {
    const auto& own = reinterpret_cast<const sockaddr_in&>(plain.storage_);
    return (ntohl(own.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  if (family() == AF_UNIX) return true;
  const auto& own = reinterpret_cast<const sockaddr_in6&>(storage_);
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&own.sin6_addr);
}

bool Address::is_any() const noexcept {
  const Address plain = without_mapping(storage_, bytes_);
  if (plain.family() == AF_INET) {
    const auto& own = reinterpret_cast<const sockaddr_in&>(plain.storage_);
    return own.sin_addr.s_addr == htonl(INADDR_ANY);
  }
  const auto& own = reinterpret_cast<const sockaddr_in6&>(storage_);
  return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&own.sin6_addr);
}

std::uint64_t Address::source() const noexcept {
  if (family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(storage_).sin_addr.s_addr;
  }
  std::uint64_t half = 0;
  std::memcpy(&half, &reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr, sizeof(half));
  return half;
}

// IPv4 and IPv6 addresses have the port at the same offset, but no standard promises that.
std::uint16_t Address::port() const noexcept {
  return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port
                                    : reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
}

std::string Address::host() const {
  if (family() == AF_UNIX) return kLoopback;
  char text[NI_MAXHOST] = {};
  ::getnameinfo(get(), bytes_, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

std::string Address::to_text() const {
  if (family() == AF_UNIX) {
    const std::size_t name_bytes = bytes_ > kNameOffset ? bytes_ - kNameOffset : 0;
    const auto* start = reinterpret_cast<const char*>(&storage_);
    return kLocalSign + std::string(start + kNameOffset, name_bytes);
  }
  char port[NI_MAXSERV] = {};
  ::getnameinfo(get(), bytes_, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  const std::string name = host();
  return (family() == AF_INET6 ? "[" + name + "]" : name) + ":" + port;
}

HostAndPort split_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw_malformed(text);
  HostAndPort parts{text.substr(0, colon), text.substr(colon + 1)};
  const bool has_brackets =
      parts.host.size() > 2 && parts.host.front() == '[' && parts.host.back() == ']';
  if (has_brackets) parts.host = parts.host.substr(1, parts.host.size() - 2);
  const bool has_colon = parts.host.find(':') != std::string::npos;
  const bool has_more_brackets = parts.host.find_first_of("[]") != std::string::npos;
  if (parts.host.empty() || has_colon != has_brackets || has_more_brackets ||
      !is_port(parts.port)) {
    throw_malformed(text);
  }
  return parts;
}

Address parse_address(const std::string& text) {
  const auto address = numeric_address(split_address(text));
  if (!address) throw_malformed(text);
  return *address;
}

// Asks no name server, so it never waits.
std::optional<Address> numeric_address(const HostAndPort& parts) {
  if (parts.host.starts_with(kLocalSign)) return local_name(parts);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(parts.host.c_str(), parts.port.c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  return Address(found->ai_addr, found->ai_addrlen);
}

bool is_numeric(const std::string& text) {
  return numeric_address(split_address(text)).has_value();
}

std::string with_port(const std::string& address, std::uint16_t port) {
  split_address(address);
  return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
}

Address without_mapping(const sockaddr_storage& storage, socklen_t bytes) {
  const auto& mapped = reinterpret_cast<const sockaddr_in6&>(storage);
  if (storage.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&mapped.sin6_addr)) {
    return {reinterpret_cast<const sockaddr*>(&storage), bytes};
  }
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  plain.sin_port = mapped.sin6_port;
  std::memcpy(&plain.sin_addr, mapped.sin6_addr.s6_addr + 12, sizeof plain.sin_addr);
  return {reinterpret_cast<const sockaddr*>(&plain), sizeof plain};
}

Address local_address(int socket) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) {
    throw_errno("getsockname");
  }
  return without_mapping(storage, bytes);
}

Address peer_address(int socket) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) {
    throw_errno("getpeername");
  }
  return without_mapping(storage, bytes);
}

std::string address_toward(std::span<const Address> targets) {
  for (; targets.size() > 1; targets = targets.subspan(1)) {
    try {
      return own_end_of_route(targets.front());
    } catch (const Error&) {  // A host may have addresses of a family that this host lacks.
    }
  }
  return own_end_of_route(targets.front());
}

std::vector<std::string> own_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw_errno("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> interfaces(first, ::freeifaddrs);
  std::vector<std::string> numbers;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const Address address(each->ifa_addr,
                          family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    const std::string number = address.host();
    const bool is_link_local = number.find('%') != std::string::npos;
    if (!address.is_loopback() && !is_link_local) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace rota::os
