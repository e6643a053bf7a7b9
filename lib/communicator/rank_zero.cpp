// Encodes rank 0's word, and chooses among the places in it.
#include "communicator/rank_zero.h"

#include <algorithm>

#include "os/address.h"
#include "stores/store.h"

namespace rota {
namespace {

// The first field of the word: another version of rota may write another word.
constexpr std::string_view kVersion = "rota1";
constexpr char kBetweenFields = ';';
constexpr char kBetweenPlaces = ',';

// Cuts the part up to the separator off the front of the text, and returns this part.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return part;
}

}  // namespace

std::string encode(const RankZero& first) {
  std::string word;
  word.reserve(stores::kMostWordBytes);  // A word that moves would leave a copy of the key behind.
  word += kVersion;
  for (const std::string* field : {&first.machine, &first.key}) (word += kBetweenFields) += *field;
  word += kBetweenFields;
  for (std::size_t i = 0; i < first.places.size(); ++i) {
    const std::string next = (i == 0 ? "" : std::string(1, kBetweenPlaces)) + first.places[i];
    if (word.size() + next.size() > stores::kMostWordBytes) break;
    word += next;
  }
  return word;
}

std::optional<RankZero> decode_rank_zero(std::string_view word) {
  if (cut(word, kBetweenFields) != kVersion) return std::nullopt;
  RankZero first;
  first.machine = cut(word, kBetweenFields);
  first.key = cut(word, kBetweenFields);
  while (!word.empty()) first.places.emplace_back(cut(word, kBetweenPlaces));
  if (first.machine.empty() || first.places.empty()) return std::nullopt;
  return first;
}

std::vector<std::string> places_to_try(const RankZero& first, const std::string& own_machine,
                                       const std::vector<std::string>& own_addresses) {
  const std::string& usual = first.places.front();
  if (first.machine == own_machine) {
    const bool is_local = usual.starts_with(os::kLocalSign);
    return {is_local ? usual : os::kLoopback + (":" + os::split_address(usual).port)};
  }
  std::vector<std::string> places;
  for (const std::string& place : first.places) {
    const bool is_own =
        std::ranges::find(own_addresses, os::split_address(place).host) != own_addresses.end();
    if (!is_own) places.push_back(place);
  }
  return places;
}

}  // namespace rota
