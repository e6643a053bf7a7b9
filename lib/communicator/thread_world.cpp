// Makes one communicator per rank, over given transports or over arenas that are made here.
#include "communicator/thread_world.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/transports.h"
#include "communicator/impl.h"
#include "communicator/tuned_file.h"
#include "communicator/with_nccl.h"
#include "os/host.h"
#include "transport/fabric.h"

namespace rota {
namespace {

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

std::vector<Communicator> ThreadWorld::make(const ThreadWorldOptions& options) {
  return over(base::Domains(options.world_size, 0),
              transport::join_threads(options.world_size, options.arena_bytes),
              options.communicator);
}

std::vector<Communicator> ThreadWorld::over(
    const base::Domains& domains, std::vector<std::unique_ptr<transport::Transport>> transports,
    const CommunicatorOptions& options, std::vector<std::shared_ptr<Membership>> memberships,
    std::vector<std::unique_ptr<collectives::Method>> methods) {
  const std::size_t world_size = transports.size();
  RankTable table;
  table.source = "threads of one process";
  table.transport = world_size == 1 ? base::kNoTransport : transports.front()->name();
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
  std::optional<nccl::Id> nccl_id;
  if (asks_for_nccl(options) && world_size == 1) {
    nccl_id = nccl_id_of_one();
  } else if (asks_for_nccl(options)) {
    nccl_of_this_rank();
    nccl_id = make_nccl_id();
  }

  std::vector<Communicator> world;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    Group group;
    group.rank = rank;
    group.table = told.table;
    group.tuned = told.tuned;
    group.domains = domains;
    group.deadline =
        std::min<base::Duration>(options.deadline.value_or(kUsualDeadline), base::kForever);
    group.may_spin = world_size <= std::thread::hardware_concurrency();
    group.members.resize(world_size);
    std::iota(group.members.begin(), group.members.end(), std::size_t{0});
    group.membership = std::move(memberships[rank]);
    group.transport = std::move(transports[rank]);
    if (!methods.empty()) group.methods.push_back(std::move(methods[rank]));
    if (nccl_id) add_nccl(group, *nccl_id, options);
    world.push_back(
        CommunicatorImpl::communicator(CommunicatorImpl::make(std::move(group), settings)));
  }
  return world;
}

}  // namespace rota
