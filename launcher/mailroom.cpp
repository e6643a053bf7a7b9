// Lends, until it is not needed any more.
#include "launcher/mailroom.h"

#include <memory>
#include <utility>

#include <rota/error.h>

#include "os/host.h"
#include "os/listener.h"
#include "os/message_socket.h"
#include "os/shared_memory.h"

namespace rota::launcher {
namespace {

using rendezvous::Lent;

// Makes what ranks are lent, and writes into the job where each listens.
std::vector<os::Fd> make_lent(const JobPlan& plan, rendezvous::Job& job) {
  std::vector<os::Fd> lent;
  job.key = auth::random_key();
  const Lent kind = rendezvous::lent_for(job.table.transport);
  for (std::size_t rank = 0; kind != Lent::kNothing && rank < job.table.rows.size(); ++rank) {
    if (kind == Lent::kArenas) {
      lent.push_back(
          os::make_shared_memory("rota-arena-" + std::to_string(rank), plan.arena_bytes));
    } else {
      os::Listener listener = os::listen_on_loopback();
      job.table.rows[rank].address = listener.address;
      lent.push_back(std::move(listener.socket));
    }
  }
  return lent;
}

}  // namespace

Mailroom::Mailroom(const JobPlan& plan, Listener listener)
    : are_arenas_(rendezvous::lent_for(plan.job.table.transport) == Lent::kArenas),
      job_(plan.job),
      lent_(make_lent(plan, job_)),
      switchboard_(job_, {.heard = std::move(listener),
                          .lend = [this](std::size_t rank) { return lend(rank); },
                          .lent = [this](std::size_t rank) { release(rank); }}),
      is_welcomed_(job_.table.rows.size()) {}

os::Fd Mailroom::open(std::size_t rank) {
  auto [ours, theirs] = os::make_message_socket_pair();
  switchboard_.connect(rank, std::make_unique<rendezvous::LocalLine>(std::move(ours)));
  return std::move(theirs);
}

std::vector<int> Mailroom::lend(std::size_t rank) const {
  std::vector<int> fds;
  for (std::size_t i = 0; i < lent_.size(); ++i) {
    if (are_arenas_ || i == rank) fds.push_back(lent_[i].get());
  }
  return fds;
}

// A rank's listening socket is its own now: when the rank ends, the port closes. Arenas are kept
// until the last rank has them.
void Mailroom::release(std::size_t rank) {
  if (is_welcomed_[rank]) return;
  is_welcomed_[rank] = true;
  ++welcomed_count_;
  if (!are_arenas_) lent_[rank].reset();
  if (are_arenas_ && welcomed_count_ == is_welcomed_.size()) lent_.clear();
}

}  // namespace rota::launcher
