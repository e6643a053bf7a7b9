// Keeps the coordinator's notices, so that every communicator of the process sees them.
#include "communicator/membership.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace rota {
namespace {

using rendezvous::MessageType;

// The poll interval of a rank that waits for the ranks to agree on the last step.
constexpr std::chrono::microseconds kAgreeEvery{200};

}  // namespace

Membership::~Membership() {
  if (client_) client_->leave();
  if (board_) (*board_)[rank_].store(true, std::memory_order_release);
}

std::optional<Error> Membership::hear() {
  const std::lock_guard lock(mutex_);
  take_in();
  return cause_;
}

void Membership::take_in() {
  while (client_ && !cause_) {
    const auto notice = client_->next_notice();
    if (!notice) break;
    take_in(*notice);
  }
  for (std::size_t rank = 0; board_ && rank < departures_.size(); ++rank) {
    if (!departures_[rank] && (*board_)[rank].load(std::memory_order_acquire)) {
      departures_[rank] = kLeft;
    }
  }
}

void Membership::take_in(const rendezvous::Message& notice) {
  switch (notice.type) {
    case MessageType::kAborted: {
      const bool mismatch = notice.error == ErrorCode::kMismatch;
      const ErrorCode code = mismatch ? ErrorCode::kMismatch : ErrorCode::kAborted;
      cause_ = notice.blamed ? Error(code, notice.text, *notice.blamed) : Error(code, notice.text);
      return;
    }
    case MessageType::kDeparted:
      if (notice.blamed && *notice.blamed < departures_.size()) {
        auto& departure = departures_[*notice.blamed];
        // Keep the first notice: "left" comes before the notice of the end.
        if (!departure) departure = notice.text;
      }
      return;
    case MessageType::kStopAsked:
      is_stop_asked_ = true;
      return client_->report_begun(begun_);
    case MessageType::kStopAfter:
      last_step_ = notice.step;
      return;
    default:
      return;
  }
}

std::optional<std::string> Membership::departure(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  return departures_[rank];
}

void Membership::begin_training(base::Duration timeout) {
  const std::lock_guard lock(mutex_);
  if (client_ && training_count_ == 0) client_->begin_training(timeout);
  ++training_count_;
}

void Membership::end_training() noexcept {
  const std::lock_guard lock(mutex_);
  if (--training_count_ == 0 && client_) client_->report_trained(begun_);
}

// Does not throw cause_: the collectives of the step throw it.
bool Membership::begin_step(std::uint64_t step, base::Duration timeout) {
  std::unique_lock lock(mutex_);
  take_in();
  const bool has_to_wait = is_stop_asked_ && !last_step_;
  const base::TimePoint end = has_to_wait ? base::Clock::now() + timeout : base::TimePoint{};
  while (is_stop_asked_ && !last_step_ && !cause_) {
    if (base::Clock::now() >= end) {
      throw Error(ErrorCode::kTimeout,
                  "rank " + std::to_string(rank_) +
                      ": the ranks did not agree on their last step within " +
                      base::to_text(timeout) +
                      ": one of them takes too long for a step, or between two steps");
    }
    lock.unlock();
    std::this_thread::sleep_for(kAgreeEvery);
    lock.lock();
    take_in();
  }
  if (last_step_ && step > *last_step_) return false;
  begun_ = std::max(begun_, step);
  return true;
}

void Membership::report_waiting(std::size_t peer, const std::string& key,
                                const std::string& text) noexcept {
  const std::lock_guard lock(mutex_);
  if (client_) client_->report_waiting(peer, key, text);
}

void Membership::report_resumed() noexcept {
  const std::lock_guard lock(mutex_);
  if (client_) client_->report_resumed();
}

void Membership::abort(ErrorCode code, std::optional<std::size_t> blamed,
                       const std::string& text) noexcept {
  const std::lock_guard lock(mutex_);
  if (cause_ && !blamed) blamed = cause_->blamed_rank();
  if (client_) client_->abort(code, blamed, text);
}

}  // namespace rota
