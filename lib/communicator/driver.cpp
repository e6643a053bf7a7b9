// One turn of the window, and what a thread looks at when nothing moves.
#include "communicator/driver.h"

#include <cstddef>
#include <cstdint>

namespace rota {
namespace {

using base::TimePoint;
using collectives::Wait;

std::vector<collectives::Method*> made_ready_of(const Group& group) {
  std::vector<collectives::Method*> made_ready;
  for (const auto& method : group.methods) {
    if (method->make_ready()) made_ready.push_back(method.get());
  }
  return made_ready;
}

}  // namespace

Driver::Driver(Group& group, OperationQueue& queue)
    : group_(group),
      queue_(queue),
      made_ready_(made_ready_of(group)),
      window_(queue, group.methods, group.transport.get()),
      watch_(group.deadline),
      messenger_(group) {}

bool Driver::turn() {
  const std::uint64_t before = queue_.finished();
  const Window::Turn turn = window_.turn();
  if (queue_.finished() != before) {
    if (watch_.on_finished()) messenger_.report_resumed();
  } else if (turn != Window::Turn::kNothing) {
    watch_.on_moved();
  }
  if (turn == Window::Turn::kBroken) messenger_.throw_if_aborted();
  return turn == Window::Turn::kMoved;  // Else whoever waits looks around, and sleeps.
}

void Driver::look_around(TimePoint now) {
  watch_.look(now);
  if (group_.transport) messenger_.throw_if_aborted();
  // The membership has a lock; nothing else here has.
  const bool may_be_news = messenger_.hear(now);
  if (window_.count() == 0) return;
  const auto wait = awaited();
  if (!wait) {
    if (watch_.ends_report()) messenger_.report_resumed();
    return;
  }
  if (may_be_news && !watch_.knows_departure_of(wait->peer) && messenger_.departure(wait->peer)) {
    // It may have gone because the group has ended: the next look sees what it saw.
    return watch_.on_departure_of(wait->peer);
  }
  // Whom a rank waited for before still says who began it.
  if (!is_for_words(*wait)) report(*wait);
  if (!window_.oldest_is_kept()) window_.oldest_run().compare_with(wait->peer);
  judge(*wait);
}

// A rank that has begun to abort keeps all others until it has told why.
std::optional<Wait> Driver::awaited() const noexcept {
  const auto writer = group_.transport ? group_.transport->aborting() : std::nullopt;
  if (writer && *writer != group_.rank) return Wait{.peer = *writer};
  return window_.oldest_run().waiting();
}

void Driver::judge(const Wait& wait) {
  const bool stream_goes_on = group_.transport->ends_by_itself(wait.peer);
  switch (watch_.judge(wait.peer, is_for_words(wait), stream_goes_on)) {
    case Watch::Verdict::kWaits:
      return;
    case Watch::Verdict::kEnded:
      if (turn()) return;
      throw end_of(wait.peer);
    case Watch::Verdict::kTimedOut:
      throw timeout_of(wait, evidence());
  }
}

void Driver::report(const Wait& wait) {
  if (!messenger_.has_coordinator()) return;
  if (!watch_.wants_report_of(wait.peer) || !own_trouble().empty()) return;
  watch_.on_report_of(wait.peer);
  messenger_.report_waiting(wait.peer, window_.oldest().signature());
}

std::string_view Driver::own_trouble() const noexcept {
  for (std::size_t peer = 0; peer < group_.world_size(); ++peer) {
    if (peer == group_.rank) continue;
    const std::string_view trouble = group_.transport->channel(peer).trouble();
    if (!trouble.empty()) return trouble;
  }
  return {};
}

Evidence Driver::evidence() noexcept {
  Evidence evidence{.rank = group_.rank,
                    .table = group_.table,
                    .deadline = group_.deadline,
                    .trouble = own_trouble()};
  if (window_.count() == 0) return evidence;
  evidence.oldest = window_.oldest().signature();
  evidence.wait = window_.oldest_run().waiting();
  if (const auto* held_up = window_.held_up_by_memory()) evidence.held_up = held_up->signature();
  return evidence;
}

void Driver::rest(base::Duration at_most) { group_.transport->rest(at_most); }

Error Driver::fail(const Error& error) noexcept { return messenger_.fail(error, evidence()); }

}  // namespace rota
