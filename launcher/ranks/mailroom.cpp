// Where ranks get what is for them.
#include "launcher/ranks/mailroom.h"

#include <memory>
#include <utility>

#include "base/transports.h"
#include "os/address.h"
#include "os/message_socket.h"

namespace rota::launcher {

Prepared prepare_here(const Options& options, const JobPlan& plan,
                      const std::vector<std::string>& environment) {
  const std::size_t rank_count = plan.share.ranks.size();
  Prepared prepared{.job = plan.job,
                    .loan = Loan(rank_count),
                    .provision = provide(options, environment, plan.share, plan.slots.cpu_count),
                    .peers = {}};
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
    prepared.loan = Loan::of_listeners(std::move(listeners));
  }
  if (plan.arena_bytes > 0) prepared.loan.add_arenas(plan.arena_bytes);
  return prepared;
}

Mailroom::Mailroom(const rendezvous::Job& job, Loan loan, const std::vector<std::size_t>& ranks,
                   Listener listener)
    : loan_(std::move(loan)),
      switchboard_(job, {.heard = std::move(listener),
                         .lend = [this](std::size_t rank) { return lend(rank); },
                         .lent = [this](std::size_t rank) { release(rank); }}) {
  for (std::size_t local = 0; local < ranks.size(); ++local) local_ranks_[ranks[local]] = local;
  loan_.set_table(rendezvous::make_table_file(switchboard_.table_text()));
}

os::Fd Mailroom::open(std::size_t rank) {
  auto [ours, theirs] = os::make_message_socket_pair();
  switchboard_.connect(rank, std::make_unique<rendezvous::LocalLine>(std::move(ours)));
  return std::move(theirs);
}

std::vector<int> Mailroom::lend(std::size_t rank) const {
  const auto local = local_ranks_.find(rank);
  return local == local_ranks_.end() ? std::vector<int>() : loan_.lend(local->second);
}

void Mailroom::release(std::size_t rank) {
  const auto local = local_ranks_.find(rank);
  if (local != local_ranks_.end()) loan_.release(local->second);
}

}  // namespace rota::launcher
