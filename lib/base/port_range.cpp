// Reads and writes ranges of ports.
#include "base/port_range.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace rota::base {
namespace {

std::optional<std::uint16_t> port_from(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || read_to != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<PortRange> port_range_from(std::string_view text) {
  const std::size_t hyphen = std::min(text.find('-'), text.size());
  const auto first = port_from(text.substr(0, hyphen));
  const auto last = port_from(text.substr(std::min(hyphen + 1, text.size())));
  if (!first || !last || *first > *last) return std::nullopt;
  return PortRange{*first, *last};
}

std::string to_text(const PortRange& range) {
  return std::to_string(range.first) + "-" + std::to_string(range.last);
}

}  // namespace rota::base
