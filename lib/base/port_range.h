// A range of TCP ports, as --ports and ROTA_PORTS name it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rota::base {

// The ports at which the sockets of a job may listen, both ends included. Ranks never listen at the
// first one: it belongs to the launcher of host 0.
struct PortRange {
  std::uint16_t first = 7700;
  std::uint16_t last = 7955;
};

// Parses "7700-7955". Returns nothing unless the text names two ports, 1 or more, in ascending
// order.
std::optional<PortRange> port_range_from(std::string_view text);

std::string to_text(const PortRange& range);

// Returns the text of the error that a rank cannot listen at `host`, since no port of the range is
// free from the port `left` places after its first on. `trouble`: the last error, or empty.
std::string text_of_no_free_port(const PortRange& range, unsigned left, const std::string& host,
                                 const std::string& trouble);

}  // namespace rota::base
