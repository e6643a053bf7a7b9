// One turn of the engines, and what a thread looks at when nothing moves.
#include "communicator/driver.h"

#include <algorithm>
#include <new>
#include <thread>

namespace rota {
namespace {

using base::Duration;
using base::TimePoint;
using collectives::Collective;
using collectives::Operation;
using collectives::Wait;

constexpr std::chrono::milliseconds kHearEvery{1};
constexpr std::chrono::milliseconds kReportAfter{100};
// A waiting thread looks every few milliseconds. A longer gap means that the whole process was
// suspended: that time is nobody's fault and does not count.
constexpr std::chrono::milliseconds kSuspended{500};
// How long a rank that lost a connection listens for the reason before it gives its own.
constexpr std::chrono::milliseconds kHearReason{50};
// How long a stream that neither ends nor moves may still bring what a rank had sent before it
// ended.
constexpr std::chrono::seconds kStreamEnds{2};

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

bool is_message(const Operation& operation) noexcept {
  return operation.signature.collective == Collective::kSend;
}

// Of what an operation reads and writes; the input may lie anywhere.
Extent extent_of(const Operation& operation) noexcept {
  const std::size_t bytes = operation.signature.count * operation.reducer->element_bytes();
  const auto address_of = [&](collectives::Buffer buffer) {
    return reinterpret_cast<std::uintptr_t>(operation.buffers[static_cast<std::size_t>(buffer)]);
  };
  const auto start = address_of(collectives::Buffer::kValues);
  if (operation.in_place) return {start, start + bytes};
  const auto from = address_of(collectives::Buffer::kInput);
  if (start == 0) return {from, from + bytes};  // Another rank alone gets the result.
  return {std::min(start, from), std::max(start, from) + bytes};
}

}  // namespace

Driver::Driver(Group& group, OperationQueue& queue)
    : group_(group), queue_(queue), board_(group.transport ? group.transport->board() : nullptr) {
  const std::vector<transport::Channel*> channels = channels_of(group);
  engines_.reserve(kWindow);
  for (std::uint64_t i = 0; i < kWindow; ++i) engines_.emplace_back(channels, board_);
}

bool Driver::turn() {
  bool moved = false;
  while (true) {
    while (may_start_next()) start_next();
    if (running() == 0) return moved;
    if (step_all()) {
      moved = true;
      departure_seen_ = {};  // What a rank sent before it ended is still coming.
    }
    if (!front().done()) return moved;
    moved = true;
    do {
      if (!finish_front()) return moved;
    } while (running() > 0 && front().done());
  }
}

// Beside those that run, which are all of one kind. Then it is started.
bool Driver::may_run_beside(const QueuedOperation& next) noexcept {
  if (running() == kWindow) return false;
  const QueuedOperation& last = queue_.at(started_);
  if (is_message(last)) return is_message(next);
  if (running() == 1) {
    all_go_beside_others_ = goes_beside_others(last);
    extents_[started_ % kWindow] = extent_of(last);
  }
  if (!all_go_beside_others_ || !goes_beside_others(next)) return false;
  const Extent extent = extent_of(next);
  for (std::uint64_t number = queue_.finished() + 1; number <= started_; ++number) {
    if (extents_[number % kWindow].overlaps(extent)) return false;
  }
  extents_[(started_ + 1) % kWindow] = extent;
  return true;
}

bool Driver::goes_beside_others(const QueuedOperation& operation) const noexcept {
  return board_ && !operation.packing && collectives::Exchange::makes(operation.signature) &&
         collectives::Exchange::goes_beside_others(*board_, operation);
}

void Driver::start_next() {
  ++started_;
  if (running() == 1) first_look_ = departure_seen_ = {};
  const QueuedOperation& operation = queue_.at(started_);
  if (operation.packing) pack(*operation.packing);
  engine_of(started_).start(operation);
}

bool Driver::step_all() {
  if (running() == 1) return !front().done() && front().step();
  bool moved = false;
  for (std::uint64_t number = queue_.finished() + 1; number <= started_; ++number) {
    collectives::Engine& engine = engine_of(number);
    if (engine.done()) continue;
    const bool is_one_of_messages = is_message(queue_.at(number));
    if (is_one_of_messages && is_behind_another(number)) continue;
    if (engine.step()) moved = true;
    if (engine.holds_others_up()) break;
    if (is_one_of_messages && engine.done() && number > queue_.finished() + 1) {
      queue_.mark_done(number);
    }
  }
  return moved;
}

// Messages to one peer leave, and those from one arrive, in the order of their calls.
bool Driver::is_behind_another(std::uint64_t number) noexcept {
  const auto& own = queue_.at(number);
  for (std::uint64_t before = queue_.finished() + 1; before < number; ++before) {
    const auto& other = queue_.at(before);
    if (!engine_of(before).done() && other.peer == own.peer && other.sends == own.sends) {
      return true;
    }
  }
  return false;
}

// A peer that failed has its values back and may change them: what was read of them since then
// is not what it promised. It says that it failed before it gives anything back.
bool Driver::finish_front() {
  if (group_.transport && group_.transport->broken()) {
    throw_if_aborted();
    return false;  // The cause is still being written.
  }
  const QueuedOperation& operation = queue_.at(queue_.finished() + 1);
  if (operation.packing) unpack(*operation.packing);
  if (reported_wait_) end_report();
  first_look_ = departure_seen_ = {};
  queue_.pop();
  return true;
}

void Driver::throw_if_aborted() {
  const auto cause = group_.transport->aborted();
  if (!cause || cause->rank == group_.rank) return;
  teller_ = Teller::kPeers;
  throw Error(code_for_all(cause->code), cause->text, cause->blamed.value_or(cause->rank));
}

void Driver::look_around(TimePoint now) {
  if (group_.transport) throw_if_aborted();
  // The membership has a lock; nothing else here has.
  const bool hears = group_.membership && now - last_heard_ > kHearEvery;
  if (hears) {
    last_heard_ = now;
    hear();
  }
  if (running() > 0) {
    const auto wait = front().waiting();
    if (hears && wait && departed_ != wait->peer && departure(wait->peer)) {
      departed_ = wait->peer;
      departure_seen_ = {};
    }
    report_wait(now, wait);
    if (wait) front().compare_with(wait->peer);
    if (wait) check_deadline(now, *wait);
  }
  last_look_ = now;
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
  if (!group_.membership) return std::nullopt;
  return group_.membership->departure(group_.members[peer]);
}

void Driver::check_deadline(TimePoint now, const Wait& wait) {
  if (departed_ == wait.peer) {
    // What it sent before it ended is here by now or, in a stream, comes before the stream's end.
    if (departure_seen_ == TimePoint{}) departure_seen_ = now;
    const bool may_come =
        group_.transport->ends_by_itself(wait.peer) && now - departure_seen_ < kStreamEnds;
    if (may_come || step_all()) return;
    throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(wait.peer) + " has ended",
                wait.peer);
  }
  if (first_look_ == TimePoint{}) {
    first_look_ = now;
  } else if (now - last_look_ > kSuspended) {
    first_look_ += now - last_look_;
  }
  if (now - first_look_ <= group_.deadline) return;
  throw Error(ErrorCode::kTimeout,
              describe_wait(wait) + " timed out after " + base::to_text(group_.deadline),
              wait.peer);
}

void Driver::report_wait(TimePoint now, const std::optional<Wait>& wait) {
  if (!group_.membership || !group_.membership->has_coordinator()) return;
  if (!wait) {
    if (reported_wait_) end_report();
  } else if (first_look_ != TimePoint{} && now - first_look_ > kReportAfter &&
             reported_wait_ != wait->peer) {
    reported_wait_ = wait->peer;
    // Messages concern two ranks only, which find out by themselves.
    const collectives::Signature& own = front().operation().signature;
    const bool is_compared = own.collective != Collective::kSend;
    group_.membership->report_waiting(
        group_.members[wait->peer],
        is_compared ? group_.name + "#" + std::to_string(own.sequence) : std::string(),
        to_text(own));
  }
}

void Driver::end_report() noexcept {
  reported_wait_.reset();
  group_.membership->report_resumed();
}

void Driver::rest(Duration at_most) { group_.transport->rest(at_most); }

Error Driver::fail(const Error& error) noexcept {
  Error cause = error;
  if (error.code() == ErrorCode::kPeerLost && error.blamed_rank()) {
    cause = known_cause(error, *error.blamed_rank());
  }
  const ErrorCode code = cause.code();
  auto blamed = cause.blamed_rank();
  std::string text = cause.what();
  const bool is_own_timeout = teller_ == Teller::kSelf && code == ErrorCode::kTimeout;
  if (teller_ == Teller::kSelf && (code == ErrorCode::kTimeout || code == ErrorCode::kPeerLost ||
                                   (code == ErrorCode::kMismatch && running() > 0))) {
    if (running() > 0) text = to_text(front().operation().signature) + ": " + text;
    text = name_of(group_.rank) + ": " + text;
  }
  // The launcher first: peers that lose this rank then hear why.
  if (group_.membership) {
    std::optional<std::size_t> member;
    if (blamed && *blamed < group_.members.size()) member = group_.members[*blamed];
    // Who found it says what it is; for the coordinator this is its echo.
    const bool is_echo = teller_ == Teller::kPeers;
    group_.membership->abort(is_echo ? ErrorCode::kAborted : code, member, text);
    if (is_own_timeout) {
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
  if (running() > 0) {
    const auto wait = front().waiting();
    if (wait && wait->peer == peer) text = describe_wait(*wait);
  }
  const auto how = departure(peer);
  return {ErrorCode::kPeerLost,
          text + (how ? ", but it " + *how : std::string(": ") + error.what()), peer};
}

std::string Driver::describe_wait(const Wait& wait) const {
  return (wait.sends ? "sending to " : "receiving from ") + name_of(wait.peer) + " (step " +
         std::to_string(wait.step + 1) + " of " + std::to_string(wait.step_count) + ", " +
         std::to_string(wait.bytes) + " of " + std::to_string(wait.step_bytes) + " bytes)";
}

std::string Driver::name_of(std::size_t rank) const {
  return "rank " + std::to_string(rank) + " (" + group_.table.rows[rank].host + ")";
}

}  // namespace rota
