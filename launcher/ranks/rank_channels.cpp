// Connects the ranks of this host to the coordinator, and gives them their descriptors. Without
// this connection no rank could join.
#include "launcher/ranks/rank_channels.h"

#include <memory>
#include <utility>

#include "base/transports.h"
#include "os/address.h"
#include "os/message_socket.h"

namespace rota::launcher {

Prepared prepare_here(const Options& options, const JobPlan& plan,
                      const std::vector<std::string>& environment) {
  const std::size_t rank_count = plan.assignment.ranks.size();
  Prepared prepared{
      .job = plan.job,
      .handoff = DescriptorHandoff(rank_count),
      .provision = provide(options, environment, plan.assignment, plan.slots.cpu_count),
      .peers = {},
      .mpi = {}};
  const auto& visible = prepared.provision.visible_devices;
  prepared.devices.assign(visible.begin(), visible.end());
  prepared.peers = describe_peers(plan.layout, {{os::kLoopback, prepared.provision.ports.ports}});
  prepared.job.key = auth::random_key();
  if (base::listens(plan.job.table.transport)) {
    std::vector<os::Listener> listeners;
    for (RankRow& row : prepared.job.table.rows) {
      listeners.push_back(os::listen_on_loopback());
      row.address = listeners.back().address;
    }
    prepared.handoff = DescriptorHandoff::of_listeners(std::move(listeners));
  }
  if (plan.arena_bytes > 0) prepared.handoff.add_arenas(plan.arena_bytes);
  return prepared;
}

RankChannels::RankChannels(const rendezvous::Job& job, DescriptorHandoff handoff,
                           const std::vector<std::size_t>& ranks, Listener listener)
    : handoff_(std::move(handoff)),
      router_(job, {.heard = std::move(listener),
                    .descriptors_of = [this](std::size_t rank) { return descriptors_of(rank); },
                    .descriptors_sent = [this](std::size_t rank) { release(rank); }}) {
  for (std::size_t local = 0; local < ranks.size(); ++local) local_ranks_[ranks[local]] = local;
  handoff_.set_table(rendezvous::make_table_file(router_.table_text()));
}

os::Fd RankChannels::open(std::size_t rank) {
  auto [ours, theirs] = os::make_message_socket_pair();
  router_.connect(rank, std::make_unique<rendezvous::LocalConnection>(std::move(ours)));
  return std::move(theirs);
}

std::vector<int> RankChannels::descriptors_of(std::size_t rank) const {
  const auto local = local_ranks_.find(rank);
  return local == local_ranks_.end() ? std::vector<int>() : handoff_.descriptors_of(local->second);
}

void RankChannels::release(std::size_t rank) {
  const auto local = local_ranks_.find(rank);
  if (local != local_ranks_.end()) handoff_.release(local->second);
}

}  // namespace rota::launcher
