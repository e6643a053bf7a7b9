// Where ranks get what is for them.
#include "launcher/mailroom.h"

#include <memory>
#include <utility>

#include "os/message_socket.h"

namespace rota::launcher {

Prepared prepare_here(const JobPlan& plan) {
  Prepared prepared{.job = plan.job, .loan = Loan(plan.share.ranks.size())};
  prepared.job.key = auth::random_key();
  switch (rendezvous::lent_for(plan.job.table.transport)) {
    case rendezvous::Lent::kArenas:
      prepared.loan = Loan::of_arenas(plan.share.ranks.size(), plan.arena_bytes);
      break;
    case rendezvous::Lent::kListener: {
      std::vector<os::Listener> listeners;
      for (RankRow& row : prepared.job.table.rows) {
        listeners.push_back(os::listen_on_loopback());
        row.address = listeners.back().address;
      }
      prepared.loan = Loan::of_listeners(std::move(listeners));
      break;
    }
    case rendezvous::Lent::kNothing:
      break;
  }
  return prepared;
}

Mailroom::Mailroom(Prepared prepared, const std::vector<std::size_t>& ranks, Listener listener)
    : loan_(std::move(prepared.loan)),
      switchboard_(prepared.job, {.heard = std::move(listener),
                                  .lend = [this](std::size_t rank) { return lend(rank); },
                                  .lent = [this](std::size_t rank) { release(rank); }}) {
  for (std::size_t local = 0; local < ranks.size(); ++local) local_ranks_[ranks[local]] = local;
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
