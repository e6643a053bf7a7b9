// Runs one turn of the window, and the checks of a thread that finds nothing to move.
#include "communicator/driver.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <thread>

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
  return turn == Window::Turn::kMoved;  // Otherwise the waiting thread looks around, and sleeps.
}

void Driver::look_around(TimePoint now) {
  watch_.look(now);
  if (group_.transport) messenger_.throw_if_aborted();
  // In this function, only calls of the membership take a lock.
  const bool may_be_news = messenger_.hear(now);
  if (window_.count() == 0) return;
  auto wait = awaited();
  if (wait && wait->is_any) wait->peer = one_of_all(wait->peer);
  if (!wait) {
    if (watch_.ends_report()) messenger_.report_resumed();
    return judge_device();
  }
  if (may_be_news && !watch_.knows_departure_of(wait->peer) && messenger_.departure(wait->peer)) {
    // The peer may have ended because the group has ended. Then the next look finds the cause that
    // the peer saw.
    return watch_.on_departure_of(wait->peer);
  }
  // A wait for the reason of an abort is not reported: the launcher still needs the previous report
  // to find the rank that failed first.
  if (!is_for_words(*wait)) report(*wait);
  if (!window_.oldest_is_kept()) window_.oldest_run().compare_with(wait->peer);
  judge(*wait);
}

// Once a rank has begun to abort, all other ranks wait until it has told why.
std::optional<Wait> Driver::awaited() const noexcept {
  const auto writer = group_.transport ? group_.transport->aborting() : std::nullopt;
  if (writer && *writer != group_.rank) return Wait{.peer = *writer};
  return window_.oldest_run().waiting();
}

// Returns the rank that an operation waits for that may wait for any rank. A rank that has failed
// comes first, and a rank that has left comes last: it has done its part.
std::size_t Driver::one_of_all(std::size_t first) const {
  std::optional<std::size_t> present;
  for (std::size_t i = 0; i < group_.world_size(); ++i) {
    const std::size_t peer = (first + i) % group_.world_size();
    if (peer == group_.rank) continue;
    const auto how = messenger_.departure(peer);
    if (how && *how != Membership::kLeft) return peer;
    if (!how && !present) present = peer;
  }
  return present.value_or(first);
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

// An operation that waits for no rank waits for the device that its values are on, if any.
void Driver::judge_device() {
  const MemoryKind memory = window_.oldest().planned->call.memory;
  if (memory.is_host()) return;
  if (watch_.judge(group_.rank, false, false) != Watch::Verdict::kTimedOut) return;
  throw Error(ErrorCode::kTimeout,
              "device " + std::to_string(memory.device()) + " did not do its part within " +
                  base::to_text(group_.deadline),
              group_.rank);
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
  evidence.memory = window_.oldest().planned->call.memory;
  evidence.wait = window_.oldest_run().waiting();
  if (const auto* held_up = window_.held_up_by_memory()) evidence.held_up = held_up->signature();
  return evidence;
}

// A world of one has no transport. It waits only for a device, which wakes nobody.
void Driver::sleep(base::Duration at_most) {
  if (group_.transport) return group_.transport->sleep(at_most);
  std::this_thread::yield();
}

Error Driver::fail(const Error& error) noexcept {
  Error cause = messenger_.fail(error, evidence());
  for (const auto& method : group_.methods) method->stop();
  const std::string_view keeper = keeps_buffers();
  if (keeper.empty()) return cause;
  try {
    return with_kept_buffers(cause, keeper);
  } catch (const std::bad_alloc&) {
    return cause;
  }
}

std::string_view Driver::keeps_buffers() const noexcept {
  const auto by_transport =
      group_.transport ? group_.transport->keeps_buffers() : std::string_view();
  return by_transport.empty() ? window_.keeps_buffers() : by_transport;
}

}  // namespace rota
