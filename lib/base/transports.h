// Has the table of transports. A row has the name of a transport, as rank tables show it, and says
// which descriptors the launcher hands over to the ranks. The functions that make transports are in
// transport/fabric.cpp, which the launcher does not use.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/domains.h"

namespace rota::base {

// Says which other ranks' memory a rank can access. The launcher hands over the arenas of these
// ranks.
enum class Sharing : std::uint8_t {
  kNone,    // No other rank.
  kDomain,  // The ranks of its domain. The launcher sends the domains.
  kAll,     // All ranks.
};

struct TransportRow {
  std::string_view name;
  Sharing sharing = Sharing::kNone;
  bool listens = false;  // Each rank gets a listening socket: ranks connect to each other.
};

// The transport over an MPI, for which the launcher must serve that MPI.
inline constexpr std::string_view kOverMpi = "mpi";

// The user can ask for a transport. Otherwise the ranks use the first row whose `sharing` equals
// sharing_between() of the ranks' domains.
inline constexpr std::array kTransports{
    TransportRow{.name = "shm", .sharing = Sharing::kAll},
    TransportRow{.name = "tcp", .listens = true}, TransportRow{.name = kOverMpi},
    TransportRow{.name = "shm+tcp", .sharing = Sharing::kDomain, .listens = true}};

// Returns whether a user may ask for the transport. Only rota itself chooses a transport with
// kDomain: such a transport fits only if ranks run in several domains.
constexpr bool may_be_asked_for(const TransportRow& row) noexcept {
  return row.sharing != Sharing::kDomain;
}

// The transport of a world with one rank.
inline constexpr std::string_view kNoTransport = "none";

// Returns null if no transport has this name.
const TransportRow* find_transport(std::string_view name) noexcept;

// Returns the transport that ranks with this sharing use if the user asks for no other transport.
const TransportRow& transport_for(Sharing sharing) noexcept;

Sharing sharing_between(std::span<const std::uint32_t> domains);

// Returns the name of the transport between ranks with these domains. This is the name of `asked`
// if the sharing of `asked` is sharing_between(domains). Otherwise it is the name of the first row
// with that sharing. For one rank, it is kNoTransport.
std::string_view transport_between(std::span<const std::uint32_t> domains,
                                   const TransportRow* asked = nullptr);

// Throws Error kSystem: the launcher named a transport that this rank does not know.
[[noreturn]] void refuse_transport(std::string_view name);

// Returns the domains of the ranks, for a transport whose name implies the domains. Throws Error
// kSystem if the transport is unknown: a guess of the domains could be wrong.
Domains domains_over(std::string_view transport, std::size_t world_size);

// The next two functions return a field of the transport's row. Without such a row, they return
// kNone and false.
Sharing sharing_over(std::string_view transport) noexcept;
bool listens(std::string_view transport) noexcept;

}  // namespace rota::base
