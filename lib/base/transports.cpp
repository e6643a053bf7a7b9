// Finds rows in the table of transports. Derives from the ranks' domains how the ranks share
// memory.
#include "base/transports.h"

#include <algorithm>
#include <set>
#include <string>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::base {

const TransportRow* find_transport(std::string_view name) noexcept {
  const auto* row = std::ranges::find(kTransports, name, &TransportRow::name);
  return row == kTransports.end() ? nullptr : row;
}

const TransportRow& transport_for(Sharing sharing) noexcept {
  return *std::ranges::find(kTransports, sharing, &TransportRow::sharing);
}

Sharing sharing_between(std::span<const std::uint32_t> domains) {
  const std::set<std::uint32_t> numbers(domains.begin(), domains.end());
  if (numbers.size() == domains.size()) return Sharing::kNone;
  return numbers.size() == 1 ? Sharing::kAll : Sharing::kDomain;
}

std::string_view transport_between(std::span<const std::uint32_t> domains,
                                   const TransportRow* asked) {
  if (domains.size() == 1) return kNoTransport;
  const Sharing sharing = sharing_between(domains);
  return asked && asked->sharing == sharing ? asked->name : transport_for(sharing).name;
}

void refuse_transport(std::string_view name) {
  throw Error(ErrorCode::kSystem,
              "the launcher chose the transport '" + std::string(name) +
                  "', which this program does not know: link it with the same rota as "
                  "the launcher");
}

Domains domains_over(std::string_view transport, std::size_t world_size) {
  const TransportRow* row = find_transport(transport);
  if (!row) refuse_transport(transport);
  ROTA_ASSERT(row->sharing != Sharing::kDomain);
  return row->sharing == Sharing::kNone ? each_alone(world_size) : Domains(world_size, 0);
}

Sharing sharing_over(std::string_view transport) noexcept {
  const TransportRow* row = find_transport(transport);
  return row ? row->sharing : Sharing::kNone;
}

bool listens(std::string_view transport) noexcept {
  const TransportRow* row = find_transport(transport);
  return row && row->listens;
}

}  // namespace rota::base
