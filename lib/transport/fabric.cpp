// Which name of a rank table is made by whom.
#include "transport/fabric.h"

#include <algorithm>
#include <utility>

#include "base/transports.h"
#include "transport/island_fabric.h"

namespace rota::transport {
namespace {

struct Row {
  std::string_view name;
  decltype(&join_islands) join;
};

constexpr std::array<Row, 3> kTransports{
    {{"shm", join_islands}, {"tcp", join_islands}, {"shm+tcp", join_islands}}};

}  // namespace

std::unique_ptr<Transport> join(std::string_view name, const Site& site, Lent lent,
                                const CallTerms& terms, base::TimePoint deadline) {
  const auto* row = std::ranges::find(kTransports, name, &Row::name);
  if (row != kTransports.end()) return row->join(site, std::move(lent), terms, deadline);
  base::refuse_transport(name);
}

}  // namespace rota::transport
