// Parses the lines in which MPICH asks about the other ranks.
#include "launcher/mpi/pmi/pmi_line.h"

#include <algorithm>
#include <charconv>

namespace rota::launcher {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::optional<PmiLine> PmiLine::parse(std::string_view line) {
  if (std::ranges::any_of(line, is_control)) return std::nullopt;
  PmiLine parsed;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
    parsed.fields_.push_back(
        {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
  }
  if (parsed.fields_.empty()) return std::nullopt;
  return parsed;
}

const std::string* PmiLine::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(fields_, name, &Field::name);
  return found == fields_.end() ? nullptr : &found->value;
}

std::string_view PmiLine::text(std::string_view name) const noexcept {
  const std::string* value = find(name);
  return value ? *value : std::string_view();
}

std::optional<int> PmiLine::number(std::string_view name) const noexcept {
  const std::string_view value = text(name);
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [read_to, error] = std::from_chars(value.data(), end, number);
  if (value.empty() || error != std::errc() || read_to != end) return std::nullopt;
  return number;
}

std::optional<std::string> PmiLines::next() {
  const std::size_t end = bytes_.find('\n');
  if (end > kMostPmiLineBytes) return std::nullopt;  // Too long, or without an end.
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 1);
  return line;
}

bool PmiLines::is_too_long() const noexcept {
  return std::min(bytes_.find('\n'), bytes_.size()) > kMostPmiLineBytes;
}

std::string quote_pmi_line(std::string_view line) {
  constexpr std::size_t kMostShown = 60;
  std::string text(line.substr(0, kMostShown));
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return '"' + text + (line.size() > kMostShown ? "..." : "") + '"';
}

}  // namespace rota::launcher
