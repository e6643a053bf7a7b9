// The coordinator, and the lines by which it is asked and answers.
#include "rendezvous/switchboard.h"

#include <algorithm>
#include <utility>

namespace rota::rendezvous {

Switchboard::Switchboard(const Job& job, Hooks hooks)
    : coordinator_(job),
      hooks_(std::move(hooks)),
      lines_(
          job.table.rows.size(),
          [this](std::size_t rank, std::span<const std::byte> bytes) { on_bytes(rank, bytes); },
          hooks_.lent) {}

void Switchboard::on_bytes(std::size_t rank, std::span<const std::byte> bytes) {
  const Message message = read_from_rank(rank, lines_.count(), bytes);
  coordinator_.on_message(rank, message, now_);
  if (hooks_.heard) hooks_.heard(rank, message);
}

void Switchboard::handle(const os::PollSet& polls, base::TimePoint now) {
  now_ = now;
  lines_.handle(polls, now);
}

void Switchboard::read_all(std::size_t rank, base::TimePoint now) {
  now_ = now;
  lines_.read_all(rank);
}

void Switchboard::send_all(base::TimePoint now) {
  for (Outgoing& outgoing : coordinator_.take_outbox()) {
    std::vector<int> fds;
    if (outgoing.with_descriptors && hooks_.lend) fds = hooks_.lend(outgoing.rank);
    lines_.post(outgoing.rank, std::move(outgoing.message), fds);
  }
  lines_.send_all(now);
}

std::optional<base::TimePoint> Switchboard::next_deadline(base::TimePoint now) const {
  const auto of_lines = lines_.next_deadline(now);
  const auto of_waits = coordinator_.next_deadline();
  if (!of_lines || !of_waits) return of_lines ? of_lines : of_waits;
  return std::min(*of_lines, *of_waits);
}

}  // namespace rota::rendezvous
