// What transports there are: what a rank table calls each, and what its ranks are lent for it. Who
// makes one is said by a row of transport/fabric.cpp, which the launcher does not see.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/islands.h"

namespace rota::base {

// Whose memory a rank reaches. It is lent the arenas of these ranks.
enum class Sharing : std::uint8_t {
  kNone,    // Nobody's.
  kIsland,  // That of the ranks of its island, who are told with the name: there are others.
  kAll,     // Everybody's.
};

struct TransportRow {
  std::string_view name;
  Sharing sharing = Sharing::kNone;
  bool listens = false;  // Each is lent a listening socket: ranks call each other.
};

// Where nobody asks for one, the first is taken that shares what the ranks do.
inline constexpr std::array kTransports{
    TransportRow{.name = "shm", .sharing = Sharing::kAll},
    TransportRow{.name = "tcp", .listens = true},
    TransportRow{.name = "shm+tcp", .sharing = Sharing::kIsland, .listens = true}};

// Whether a person may ask for it. What is of islands comes about by where ranks are.
constexpr bool may_be_asked_for(const TransportRow& row) noexcept {
  return row.sharing != Sharing::kIsland;
}

// Of a rank that is alone.
inline constexpr std::string_view kNoTransport = "none";

// Null where there is none of that name.
const TransportRow* find_transport(std::string_view name) noexcept;

// That of ranks that share so, where nobody asks for another.
const TransportRow& transport_for(Sharing sharing) noexcept;

Sharing sharing_between(std::span<const std::uint32_t> islands);

// What ranks talk over whose islands these are: `asked`, if it shares what they do.
std::string_view transport_between(std::span<const std::uint32_t> islands,
                                   const TransportRow* asked = nullptr);

// What a rank says to a name that it was told and does not know: throws Error kSystem.
[[noreturn]] void refuse_transport(std::string_view name);

// The islands of ranks whose transport says which these are. Throws Error kSystem where it is not
// known, so that nobody guesses.
Islands islands_over(std::string_view transport, std::size_t world_size);

// What its row says. What is no transport's name shares nothing, and does not listen.
Sharing sharing_over(std::string_view transport) noexcept;
bool listens(std::string_view transport) noexcept;

}  // namespace rota::base
