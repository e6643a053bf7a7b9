// What rank 0 tells the other ranks through the store of their launcher: where it waits for them,
// and with which key. Without this, ranks that mpirun or srun starts would not find each other.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota {

struct RankZero {
  std::string machine;              // os::machine_id() of rank 0.
  std::vector<std::string> places;  // Where it listens: "10.0.0.1:41234", "@rota-0-4711:0".
  std::string key{};                // In hexadecimal; empty: each rank reads its own key file.
};

// Returns one word for a store. Leaves out the last places if all of them would be too long.
std::string encode(const RankZero& first);

// Rank 0's word if it could not listen. No word from encode().
inline constexpr std::string_view kNoPlaces = "rota1;none";

// Returns nothing if the word does not come from encode().
std::optional<RankZero> decode_rank_zero(std::string_view word);

// Returns the places at which another rank may reach rank 0, in the order in which to try them. On
// rank 0's machine, this is loopback or a local name. On another machine, an address that this
// machine has too, such as the address of a bridge between containers, does not lead to rank 0.
std::vector<std::string> places_to_try(const RankZero& first, const std::string& own_machine,
                                       const std::vector<std::string>& own_addresses);

}  // namespace rota
