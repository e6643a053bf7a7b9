// Passes the ranks' messages to the coordinator, and sends the coordinator's answers.
#include "rendezvous/message_router.h"

#include <algorithm>
#include <utility>

namespace rota::rendezvous {

MessageRouter::MessageRouter(const Job& job, Hooks hooks)
    : coordinator_(job),
      hooks_(std::move(hooks)),
      connections_(
          job.table.rows.size(),
          [this](std::size_t rank, std::span<const std::byte> bytes) { on_bytes(rank, bytes); },
          hooks_.descriptors_sent) {}

void MessageRouter::on_bytes(std::size_t rank, std::span<const std::byte> bytes) {
  const Message message = read_from_rank(rank, connections_.count(), bytes);
  coordinator_.on_message(rank, message, now_);
  if (hooks_.heard) hooks_.heard(rank, message);
}

void MessageRouter::handle(const os::PollSet& polls, base::TimePoint now) {
  now_ = now;
  connections_.handle(polls, now);
}

void MessageRouter::read_all(std::size_t rank, base::TimePoint now) {
  now_ = now;
  connections_.read_all(rank);
}

void MessageRouter::send_all(base::TimePoint now) {
  for (Outgoing& outgoing : coordinator_.take_outbox()) {
    std::vector<int> fds;
    if (outgoing.with_descriptors && hooks_.descriptors_of)
      fds = hooks_.descriptors_of(outgoing.rank);
    connections_.post(outgoing.rank, std::move(outgoing.message), fds);
  }
  connections_.send_all(now);
}

std::optional<base::TimePoint> MessageRouter::next_deadline(base::TimePoint now) const {
  const auto of_connections = connections_.next_deadline(now);
  const auto of_waits = coordinator_.next_deadline();
  if (!of_connections || !of_waits) return of_connections ? of_connections : of_waits;
  return std::min(*of_connections, *of_waits);
}

}  // namespace rota::rendezvous
