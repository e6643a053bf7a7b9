// What ranks compare before they exchange a byte of values: their rota, their options, and how they
// lay out memory. Without this, ranks that differ would fail later, in a way that nobody could
// explain.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota {

// What rank 0 publishes for the others.
struct FirstWord {
  std::string rota;          // own_rota() of rank 0.
  std::string plan;          // Plan and codec.
  std::string tuned_file{};  // Path of the tuned file that rank 0 has read for all ranks; or empty.
  std::string tuned_text{};
};

std::string encode(const FirstWord& word);

// Returns the version of rota in a word of any version. Only a word of the own version has the
// rest.
std::string rota_in_first_word(std::string_view encoded);
FirstWord decode_first_word(std::string_view encoded);

// Returns the version of this librota, such as "rota 1.2.3".
std::string own_rota();

// Throws Error kMismatch if rank 0 has another version than rank `rank`, which has this librota.
void require_same_rota(std::size_t rank, const std::string& of_rank_0,
                       const std::string& own = own_rota());

// Returns how this program lays out memory, such as "64-bit little-endian". Ranks with the same
// text can share memory.
std::string own_memory_layout();

// Throws Error kMismatch if rank `first` has another layout than rank `rank`, this one.
void require_same_memory_layout(std::size_t rank, std::size_t first, const std::string& of_first,
                                const std::string& own = own_memory_layout());

}  // namespace rota
