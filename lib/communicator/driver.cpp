// One turn of the engine, and what a thread looks at when nothing moves.
#include "communicator/driver.h"

#include <thread>

namespace rota {
namespace {

using base::Duration;
using base::TimePoint;
using collectives::Wait;

constexpr std::chrono::milliseconds kHearEvery{1};
constexpr std::chrono::milliseconds kReportAfter{100};
// A waiting thread looks every few milliseconds. A longer gap means that the whole process was
// suspended: that time is nobody's fault and does not count.
constexpr std::chrono::milliseconds kSuspended{500};
// How long a rank that lost a connection listens for the reason before it gives its own.
constexpr std::chrono::milliseconds kHearReason{50};

std::vector<transport::Channel*> channels_of(const Group& group) {
  std::vector<transport::Channel*> channels(group.world_size(), nullptr);
  for (std::size_t peer = 0; group.transport && peer < channels.size(); ++peer) {
    if (peer != group.rank) channels[peer] = &group.transport->channel(peer);
  }
  return channels;
}

}  // namespace

Driver::Driver(Group& group, OperationQueue& queue)
    : group_(group), queue_(queue), engine_(channels_of(group)), departed_(group.world_size()) {}

bool Driver::turn() {
  bool moved = false;
  while (running_ || !queue_.empty()) {
    if (!running_) {
      engine_.start(queue_.front());
      running_ = true;
      first_look_ = {};
    }
    if (!engine_.done() && engine_.step(last_look_)) moved = true;
    if (!engine_.done()) return moved;
    running_ = false;
    if (reported_wait_) end_report();
    queue_.pop();
    moved = true;
  }
  return moved;
}

void Driver::look_around(TimePoint now) {
  if (const auto cause = group_.transport->aborted(); cause && cause->rank != group_.rank) {
    throw Error(ErrorCode::kAborted, cause->text, cause->rank);
  }
  if (now - last_heard_ > kHearEvery) {
    last_heard_ = now;
    hear_notices();
  }
  if (running_) {
    const auto wait = engine_.waiting();
    report_wait(now, wait);
    if (wait) check_deadline(now, *wait);
  }
  last_look_ = now;
}

void Driver::hear_notices() {
  while (group_.client) {
    const auto notice = group_.client->next_notice();
    if (!notice) return;
    if (notice->type == rendezvous::MessageType::kAborted) {
      if (notice->blamed) throw Error(ErrorCode::kAborted, notice->text, *notice->blamed);
      throw Error(ErrorCode::kAborted, notice->text);
    }
    if (notice->type == rendezvous::MessageType::kDeparted && notice->blamed &&
        *notice->blamed < departed_.size()) {
      departed_[*notice->blamed] = notice->text;
    }
  }
}

void Driver::check_deadline(TimePoint now, const Wait& wait) {
  if (departed_[wait.peer]) {
    // All that it sent before it ended has arrived by now: look once more, then it is final.
    if (engine_.step(now)) return;
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
  if (!group_.client) return;
  if (!wait) {
    if (reported_wait_) end_report();
  } else if (first_look_ != TimePoint{} && now - first_look_ > kReportAfter &&
             reported_wait_ != wait->peer) {
    reported_wait_ = wait->peer;
    group_.client->report_waiting(wait->peer);
  }
}

void Driver::end_report() noexcept {
  reported_wait_.reset();
  group_.client->report_resumed();
}

void Driver::rest(Duration at_most) { group_.transport->rest(at_most); }

Error Driver::fail(const Error& error) noexcept {
  std::string text = error.what();
  const auto blamed = error.blamed_rank();
  if (error.code() == ErrorCode::kPeerLost && blamed) text = lost_text(error, *blamed);
  if (error.code() == ErrorCode::kMismatch || error.code() == ErrorCode::kTimeout ||
      error.code() == ErrorCode::kPeerLost) {
    if (running_) text = to_text(engine_.operation().signature) + ": " + text;
    text = name_of(group_.rank) + ": " + text;
  }
  if (group_.transport) {
    group_.transport->abort(
        {.rank = group_.rank, .code = error.code(), .blamed = blamed, .text = text});
  }
  if (group_.client) group_.client->abort(error.code(), blamed, text);
  return blamed ? Error(error.code(), text, *blamed) : Error(error.code(), text);
}

// A broken connection says that a peer is gone; the launcher knows how it went.
std::string Driver::lost_text(const Error& error, std::size_t peer) {
  const TimePoint until = base::Clock::now() + kHearReason;
  std::string reason;
  try {
    while (!departed_[peer] && group_.client && base::Clock::now() < until) {
      hear_notices();
      if (!departed_[peer]) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Error& known) {
    reason = known.what();
  }
  if (departed_[peer]) reason = *departed_[peer];
  std::string text = name_of(peer) + " was needed";
  if (running_) {
    if (const auto wait = engine_.waiting()) text = describe_wait(*wait);
  }
  return text + (reason.empty() ? std::string(": ") + error.what() : ", but it " + reason);
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
