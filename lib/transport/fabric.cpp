// Which name of a rank table is made by whom.
#include "transport/fabric.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/transports.h"
#include "transport/mixed_transport.h"
#include "transport/shm/transport.h"
#include "transport/tcp/transport.h"

namespace rota::transport {
namespace {

// One for each row of base::kTransports.
constexpr std::array kMakers{Maker{"shm", shm::join}, Maker{"tcp", tcp::join},
                             Maker{"shm+tcp", join_mixed}};

}  // namespace

std::span<const Maker> makers() noexcept { return kMakers; }

std::unique_ptr<Transport> join(std::string_view name, const Site& site, Lent lent,
                                const CallTerms& terms, base::TimePoint deadline,
                                std::span<const Maker> among) {
  const auto maker = std::ranges::find(among, name, &Maker::name);
  if (maker == among.end()) base::refuse_transport(name);
  return maker->join(site, std::move(lent), terms, deadline);
}

}  // namespace rota::transport
