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

std::string text_of_no_free_port(const PortRange& range, unsigned left, const std::string& host,
                                 const std::string& trouble) {
  return "none of the ports " + std::to_string(range.first) + " to " + std::to_string(range.last) +
         " (ROTA_PORTS) of " + host + (left > 0 ? ", without the first one," : "") +
         " is free, and other ranks must reach this rank there" +
         (trouble.empty() ? "" : " (last error: " + trouble + ")") +
         ": set ROTA_PORTS to a wider range (of rotarun: --ports)";
}

}  // namespace rota::base
