// Makes arenas, and one communicator a rank over them.
#include "communicator/thread_world.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "communicator/impl.h"
#include "communicator/tuned_file.h"
#include "memory/arena.h"
#include "os/host.h"
#include "transport/shm/transport.h"

namespace rota {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastArenaBytes = std::uint64_t{1} << 20;

std::vector<std::shared_ptr<Membership>> memberships_of_threads(std::size_t world_size) {
  const auto board = std::make_shared<Board>(world_size);
  std::vector<std::shared_ptr<Membership>> memberships;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    memberships.push_back(std::make_shared<Membership>(rank, world_size));
    memberships.back()->connect(board);
  }
  return memberships;
}

}  // namespace

std::size_t thread_arena_bytes(std::size_t count) {
  const std::uint64_t wanted = sizeof(void*) == 8 ? 16 * kGiB : kGiB / count;
  const std::uint64_t allowed = os::file_size_limit_bytes();
  const std::uint64_t bytes =
      std::min(wanted, allowed) / memory::Arena::kPage * memory::Arena::kPage;
  if (bytes >= kLeastArenaBytes) return static_cast<std::size_t>(bytes);
  throw Error(ErrorCode::kNoMemory,
              "memory that threads share counts as a file, and the limit of " +
                  std::to_string(allowed) + " bytes (ulimit -f) leaves no room for it: raise it");
}

std::vector<Communicator> ThreadWorld::make(const ThreadWorldOptions& options) {
  std::vector<os::Fd> arenas;
  for (std::size_t rank = 0; rank < options.world_size; ++rank) {
    arenas.push_back(
        os::make_shared_memory("rota-rank-" + std::to_string(rank), options.arena_bytes));
  }
  const auto domain = std::make_shared<transport::shm::Domain>(std::move(arenas));
  std::vector<std::size_t> ranks(options.world_size);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t rank = 0; rank < options.world_size; ++rank) {
    transports.push_back(std::make_unique<transport::shm::Transport>(domain, rank, ranks));
  }
  return over(base::islands_over("shm", options.world_size), std::move(transports),
              options.communicator);
}

std::vector<Communicator> ThreadWorld::over(
    const base::Islands& islands, std::vector<std::unique_ptr<transport::Transport>> transports,
    const CommunicatorOptions& options, std::vector<std::shared_ptr<Membership>> memberships) {
  const std::size_t world_size = transports.size();
  RankTable table;
  table.source = "threads of one process";
  table.transport = base::transport_between(islands);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    table.rows.push_back({.local_rank = rank, .host = os::host_name(), .address = {}, .cores = {}});
  }
  Group told;
  told.table = table;
  if (world_size > 1 && !options.tuned_file.empty()) {
    give_tuned(told, options.tuned_file, read_tuned_file(options.tuned_file));
    require_own_topology(told);
  }
  if (memberships.empty()) memberships = memberships_of_threads(world_size);
  const Settings settings(options);

  std::vector<Communicator> world;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    Group group;
    group.rank = rank;
    group.table = told.table;
    group.tuned = told.tuned;
    group.islands = islands;
    group.deadline =
        std::min<base::Duration>(options.deadline.value_or(kUsualDeadline), base::kForever);
    group.may_spin = world_size <= std::thread::hardware_concurrency();
    group.members.resize(world_size);
    std::iota(group.members.begin(), group.members.end(), std::size_t{0});
    group.membership = std::move(memberships[rank]);
    group.transport = std::move(transports[rank]);
    world.push_back(
        CommunicatorAccess::make(std::make_shared<CommunicatorImpl>(std::move(group), settings)));
  }
  return world;
}

}  // namespace rota
