// Finds the factory for the transport that a rank table names.
#include "transport/fabric.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/transports.h"
#include "transport/mixed_transport.h"
#include "transport/mpi/job_world.h"
#include "transport/shm/transport.h"
#include "transport/tcp/transport.h"

namespace rota::transport {
namespace {

// One factory for each row of base::kTransports.
constexpr std::array kFactories{Factory{"shm", shm::join}, Factory{"tcp", tcp::join},
                                Factory{base::kOverMpi, mpi::join}, Factory{"shm+tcp", join_mixed}};

}  // namespace

std::span<const Factory> factories() noexcept { return kFactories; }

std::unique_ptr<Transport> join(std::string_view name, const GroupShape& shape,
                                Descriptors descriptors, const CallTerms& terms,
                                base::TimePoint deadline, std::span<const Factory> among) {
  const auto factory = std::ranges::find(among, name, &Factory::name);
  if (factory == among.end()) base::refuse_transport(name);
  return factory->join(shape, std::move(descriptors), terms, deadline);
}

}  // namespace rota::transport
