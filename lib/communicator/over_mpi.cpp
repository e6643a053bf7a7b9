// Joins the ranks of an MPI communicator. They learn over MPI where rank 0 listens, and connect to
// a coordinator in its process, which tells them about failures.
#include <rota/mpi_calls.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "base/transports.h"
#include "collectives/mpi/run.h"
#include "communicator/create_group.h"
#include "communicator/impl.h"
#include "communicator/join.h"
#include "communicator/listening_ports.h"
#include "communicator/tuned_file.h"
#include "os/host.h"
#include "stores/store.h"
#include "transport/mpi/transport.h"

namespace rota {
namespace {

using transport::mpi::World;

// MPI itself brings rank 0's word to the others.
class MpiStore final : public stores::Store {
 public:
  explicit MpiStore(World& world) noexcept : world_(world) {}

  std::string share(const std::string& word, base::TimePoint deadline) override {
    std::array<char, stores::kMostWordBytes + 1> own{};  // With a zero at its end.
    std::copy_n(word.begin(), std::min(word.size(), stores::kMostWordBytes), own.begin());
    std::vector<std::byte> all = world_.all_gather(std::as_bytes(std::span(own)), deadline);
    std::copy_n(reinterpret_cast<const char*>(all.data()), stores::kMostWordBytes, own.begin());
    std::string of_rank_0 = own.data();
    os::wipe(all);
    os::wipe(std::as_writable_bytes(std::span(own)));
    return of_rank_0;
  }

 private:
  World& world_;
};

bool are_on_one_machine(World& world, base::TimePoint deadline) {
  const std::string own = os::machine_id();
  const std::vector<std::byte> all = world.all_gather(base::bytes_of(own), deadline);
  for (std::size_t rank = 0; rank < world.world_size(); ++rank) {
    if (std::memcmp(all.data() + rank * own.size(), own.data(), own.size()) != 0) return false;
  }
  return true;
}

// Returns a table without addresses. It has hosts only if all ranks are on this machine.
RankTable table_over_mpi(World& world, base::TimePoint deadline) {
  RankTable table;
  table.source = std::string("a communicator of ") + world.calls().name;
  table.transport = base::kOverMpi;
  table.rows.resize(world.world_size());
  if (!are_on_one_machine(world, deadline)) return table;
  for (RankRow& row : table.rows) row.host = os::host_name();
  return table;
}

Group join_over_mpi(const mpi::Calls& calls, mpi::Handle comm, const CommunicatorOptions& options) {
  if (options.encrypt) {
    throw Error(ErrorCode::kInvalidArgument,
                "rota::mpi::communicator: rota cannot encrypt what MPI sends: leave `encrypt` off");
  }
  const auto ports = listening_ports(options);
  const auto deadline = base::Clock::now() + std::min(options.join_timeout, base::kForever);
  const auto world = std::make_shared<World>(calls, comm, deadline);
  RankTable table = table_over_mpi(*world, deadline);
  if (world->world_size() == 1) {
    table.transport = base::kNoTransport;
    return world_of_one(std::move(table), options);
  }
  MpiStore store(*world);
  Arrival arrival =
      arrive_through_store({.table = table, .rank = world->rank()}, store, false, ports, deadline);
  arrival.make_transport = [world] { return transport::mpi::transport_of_all(world); };
  Group group = enter(std::move(arrival), &table, options, deadline);
  group.methods.push_back(std::make_unique<collectives::MpiCollectives>(world));
  return group;
}

Communicator communicator_of(Group group, const Settings& settings) {
  require_own_topology(group);
  return CommunicatorImpl::communicator(CommunicatorImpl::make(std::move(group), settings));
}

}  // namespace

namespace mpi {

Communicator communicator_over(const Calls& calls, Handle comm,
                               const CommunicatorOptions& options) {
  const Settings settings(options);
  return communicator_of(join_over_mpi(calls, comm, options), settings);
}

std::vector<Communicator> communicators_over(const Calls& calls, Handle comm, std::size_t count,
                                             const CommunicatorOptions& options) {
  require_thread_count(count);
  const Settings settings(options);
  const auto processes = CommunicatorImpl::make(join_over_mpi(calls, comm, options), settings);
  std::vector<Communicator> threads;
  for (Group& group : groups_for_threads(*processes, count)) {
    threads.push_back(communicator_of(std::move(group), settings));
  }
  return threads;
}

}  // namespace mpi
}  // namespace rota
