// One turn of the window, and what a thread looks at when nothing moves.
#include "communicator/driver.h"

#include <algorithm>
#include <new>
#include <span>
#include <thread>
#include <utility>

#include "collectives/plan_run.h"
#include "collectives/shared/run.h"

namespace rota {
namespace {

using base::Duration;
using base::TimePoint;
using collectives::Collective;
using collectives::Wait;

constexpr std::chrono::milliseconds kHearEvery{1};
// How long a rank that lost a connection listens for the reason before it gives its own.
constexpr std::chrono::milliseconds kHearReason{50};
// A rank that gives up listens twice, and writes it down.
static_assert(Watch::kTellsWithin >= 4 * kHearReason);

std::vector<transport::Channel*> channels_of(const Group& group) {
  std::vector<transport::Channel*> channels(group.world_size(), nullptr);
  for (std::size_t peer = 0; group.transport && peer < channels.size(); ++peer) {
    if (peer != group.rank) channels[peer] = &group.transport->channel(peer);
  }
  return channels;
}

// What the others are told: that ranks disagree is true of all of them.
ErrorCode code_for_all(ErrorCode code) noexcept {
  return code == ErrorCode::kMismatch ? code : ErrorCode::kAborted;
}

std::optional<collectives::Flags> flags_of(const Group& group) {
  transport::SharedMemory* shared = group.transport ? group.transport->shared_memory() : nullptr;
  return shared ? std::optional<collectives::Flags>(std::in_place, *shared) : std::nullopt;
}

// As PlannedCollective::method counts them.
std::vector<std::unique_ptr<collectives::Method>> methods_of(
    std::span<transport::Channel* const> channels, collectives::Flags* flags) {
  std::vector<std::unique_ptr<collectives::Method>> methods;
  methods.push_back(std::make_unique<collectives::Plans>(channels, flags));
  if (flags) methods.push_back(std::make_unique<collectives::SharedCollectives>(*flags, channels));
  return methods;
}

bool is_send(const QueuedOperation& operation) noexcept {
  return operation.planned->signature.collective() == Collective::kSend;
}

}  // namespace

Driver::Driver(Group& group, OperationQueue& queue)
    : group_(group),
      queue_(queue),
      channels_(channels_of(group)),
      flags_(flags_of(group)),
      methods_(methods_of(channels_, flags_ ? &*flags_ : nullptr)),
      window_(queue, methods_, group.transport.get()),
      watch_(group.deadline) {
  speechless_ = {.rank = group_.rank,
                 .code = ErrorCode::kNoMemory,
                 .blamed = std::nullopt,
                 .text = name_of(group_.rank) + " failed, and had no memory to say why"};
}

bool Driver::turn() {
  const std::uint64_t before = queue_.finished();
  const Window::Turn turn = window_.turn();
  if (queue_.finished() != before) {
    if (watch_.on_finished()) group_.membership->report_resumed();
  } else if (turn != Window::Turn::kNothing) {
    watch_.on_moved();
  }
  if (turn == Window::Turn::kBroken) throw_if_aborted();
  return turn == Window::Turn::kMoved;  // Else whoever waits looks around, and sleeps.
}

void Driver::throw_if_aborted() {
  const auto cause = group_.transport->aborted();
  if (!cause || cause->rank == group_.rank) return;
  teller_ = Teller::kPeers;
  throw Error(code_for_all(cause->code), cause->text, cause->blamed.value_or(cause->rank));
}

void Driver::look_around(TimePoint now) {
  watch_.look(now);
  if (group_.transport) throw_if_aborted();
  // The membership has a lock; nothing else here has.
  const bool hears = group_.membership && now - last_heard_ > kHearEvery;
  if (hears) {
    last_heard_ = now;
    hear();
  }
  if (window_.count() == 0) return;
  const auto wait = awaited();
  if (!wait) {
    if (watch_.ends_report()) group_.membership->report_resumed();
    return;
  }
  const bool looks = hears || !group_.membership;
  if (looks && !watch_.knows_departure_of(wait->peer) && departure(wait->peer)) {
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

// Throws what broke the job, in this group's words.
void Driver::hear() {
  const auto cause = group_.membership->hear();
  if (!cause) return;
  teller_ = Teller::kCoordinator;
  const auto& members = group_.members;
  const auto blamed = cause->blamed_rank()
                          ? std::find(members.begin(), members.end(), *cause->blamed_rank())
                          : members.end();
  if (blamed == members.end()) throw Error(cause->code(), cause->what());
  throw Error(cause->code(), cause->what(), static_cast<std::size_t>(blamed - members.begin()));
}

std::optional<std::string> Driver::departure(std::size_t peer) const {
  if (group_.membership) {
    if (auto how = group_.membership->departure(group_.members[peer])) return how;
  }
  if (group_.transport && group_.transport->has_left(peer)) return "left";
  return std::nullopt;
}

void Driver::judge(const Wait& wait) {
  const bool stream_goes_on = group_.transport->ends_by_itself(wait.peer);
  switch (watch_.judge(wait.peer, is_for_words(wait), stream_goes_on)) {
    case Watch::Verdict::kWaits:
      return;
    case Watch::Verdict::kEnded:
      if (turn()) return;
      throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(wait.peer) + " has ended",
                  wait.peer);
    case Watch::Verdict::kTimedOut:
      throw timeout_of(wait);
  }
}

// Where this rank's own host keeps it from moving, no peer is to blame.
Error Driver::timeout_of(const Wait& wait) {
  const std::string trouble(own_trouble());
  return {ErrorCode::kTimeout,
          describe(wait) + " timed out after " + base::to_text(group_.deadline) +
              (trouble.empty() ? "" : ": " + trouble) + describe_held_up(),
          trouble.empty() ? wait.peer : group_.rank};
}

std::string_view Driver::own_trouble() const noexcept {
  for (std::size_t peer = 0; peer < group_.world_size(); ++peer) {
    if (peer == group_.rank) continue;
    const std::string_view trouble = group_.transport->channel(peer).trouble();
    if (!trouble.empty()) return trouble;
  }
  return {};
}

// Where both sides of a swap receive into the memory that they send from, neither ever sends.
std::string Driver::describe_held_up() {
  const QueuedOperation* held_up = window_.held_up_by_memory();
  if (!held_up || !is_send(*held_up) || !is_send(window_.oldest())) return "";
  return "; " + to_text(held_up->signature()) + " waits for it, as they use the same memory";
}

void Driver::report(const Wait& wait) {
  if (!group_.membership || !group_.membership->has_coordinator()) return;
  if (!watch_.wants_report_of(wait.peer) || !own_trouble().empty()) return;
  watch_.on_report_of(wait.peer);
  // Messages concern two ranks only, which find out by themselves.
  const QueuedOperation& own = window_.oldest();
  group_.membership->report_waiting(
      group_.members[wait.peer],
      is_send(own) ? std::string() : group_.name + "#" + std::to_string(own.sequence),
      to_text(own.signature()));
}

void Driver::rest(Duration at_most) { group_.transport->rest(at_most); }

Error Driver::fail(const Error& error) noexcept {
  // Peers that share memory stop at once, and hear the cause once it is known.
  if (group_.transport) group_.transport->begin_abort(group_.rank);
  try {
    return tell_all(error);
  } catch (const std::exception&) {
    // There is no memory for more words.
    if (group_.transport) group_.transport->abort(speechless_);
    return error;
  }
}

// The launcher first: peers that lose this rank then hear why.
Error Driver::tell_all(const Error& error) {
  Error cause = error;
  if (error.code() == ErrorCode::kPeerLost && error.blamed_rank()) {
    cause = known_cause(error, *error.blamed_rank());
  }
  const ErrorCode code = cause.code();
  auto blamed = cause.blamed_rank();
  std::string text = in_own_words(cause);
  if (group_.membership) {
    std::optional<std::size_t> member;
    if (blamed && *blamed < group_.members.size()) member = group_.members[*blamed];
    group_.membership->abort(code, member, text);
    if (teller_ == Teller::kSelf && code == ErrorCode::kTimeout) {
      if (const auto followed = hear_reason()) {
        text = followed->what();
        blamed = followed->blamed_rank();
      }
    }
  }
  if (group_.transport) {
    group_.transport->abort({.rank = group_.rank, .code = code, .blamed = blamed, .text = text});
  }
  return blamed ? Error(code, text, *blamed) : Error(code, text);
}

// What this rank has found by itself says which rank it is, and what it was doing.
std::string Driver::in_own_words(const Error& cause) const {
  const ErrorCode code = cause.code();
  const bool is_of_this_rank = code == ErrorCode::kTimeout || code == ErrorCode::kPeerLost ||
                               (code == ErrorCode::kMismatch && window_.count() > 0);
  if (teller_ != Teller::kSelf || !is_of_this_rank) return cause.what();
  std::string text = name_of(group_.rank) + ": ";
  if (window_.count() > 0) text += to_text(window_.oldest().signature()) + ": ";
  return text + cause.what();
}

// Whom one waits for may wait for another one; the coordinator knows how that goes on.
std::optional<Error> Driver::hear_reason() noexcept {
  if (!group_.membership->has_coordinator()) return std::nullopt;
  const TimePoint until = base::Clock::now() + kHearReason;
  try {
    while (base::Clock::now() < until) {
      hear();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Error& known) {
    if (known.code() != ErrorCode::kSystem) return known;
  }
  return std::nullopt;
}

// A broken connection says that a peer is gone; the coordinator knows how it went, or that it was
// not the first to go.
Error Driver::known_cause(const Error& error, std::size_t peer) {
  const TimePoint until = base::Clock::now() + kHearReason;
  if (group_.membership) group_.membership->report_waiting(group_.members[peer], {}, {});
  try {
    while (group_.membership && group_.membership->has_coordinator() && !departure(peer) &&
           base::Clock::now() < until) {
      hear();
      if (!departure(peer)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Error& known) {
    if (known.code() != ErrorCode::kSystem) return known;
  }
  std::string text = name_of(peer) + " was needed";
  if (window_.count() > 0) {
    const auto wait = window_.oldest_run().waiting();
    if (wait && wait->peer == peer) text = describe(*wait);
  }
  const auto how = departure(peer);
  return {ErrorCode::kPeerLost,
          text + (how ? ", but it " + *how : std::string(": ") + error.what()), peer};
}

std::string Driver::describe(const Wait& wait) const { return to_text(wait, name_of(wait.peer)); }

std::string Driver::name_of(std::size_t rank) const {
  return "rank " + std::to_string(rank) + " (" + group_.table.rows[rank].host + ")";
}

}  // namespace rota
