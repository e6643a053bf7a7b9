// Refuses bad specifications, and parses the numbers in good ones.
#include "cluster/refusal.h"

#include <charconv>

#include <rota/error.h>

namespace rota::cluster {
namespace {

constexpr std::size_t kMostShown = 80;

}  // namespace

void refuse(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

std::string shown(std::string_view value) {
  std::string text(value.substr(0, kMostShown));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + text + (value.size() > kMostShown ? "…'" : "'");
}

std::size_t to_number(const std::string& what, std::string_view text, Range range) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc() && read_to == end;
  if (!is_number || number < range.least || number > range.most) {
    refuse(what + " is " + shown(text) + ": a whole number from " + std::to_string(range.least) +
           " to " + std::to_string(range.most) + " is needed");
  }
  return number;
}

}  // namespace rota::cluster
