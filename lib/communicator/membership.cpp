// Keeps the coordinator's notices, so that every communicator of the process sees them.
#include "communicator/membership.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace rota {
namespace {

using rendezvous::MessageType;

// The poll interval of a rank that waits until it may take its next step.
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
    case MessageType::kReply:
      asks_to_train_ = false;
      return;
    default:
      return;
  }
}

std::optional<std::string> Membership::departure(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  return departures_[rank];
}

// Gives the mutex back between two looks. Meanwhile, other threads move data, look for failures and
// abort. Other ranks may need this data before they can agree.
template <class Done>
bool Membership::take_in_until(std::unique_lock<std::mutex>& lock, base::Duration timeout,
                               Done done) {
  take_in();
  if (done()) return true;
  const base::TimePoint end = base::Clock::now() + timeout;
  while (base::Clock::now() < end) {
    lock.unlock();
    std::this_thread::sleep_for(kAgreeEvery);
    lock.lock();
    take_in();
    if (done()) return true;
  }
  return false;
}

// Does not ask again while an answer is still to come, perhaps to a call that has given up.
void Membership::begin_training(base::Duration timeout) {
  std::unique_lock lock(mutex_);
  if (client_ && training_count_ == 0 && !asks_to_train_) {
    asks_to_train_ = client_->ask_to_train(timeout);
  }
  if (!take_in_until(lock, timeout, [this] { return !asks_to_train_ || cause_; })) {
    throw Error(ErrorCode::kTimeout,
                "rank " + std::to_string(rank_) +
                    ": the launcher did not let it begin to train within " +
                    base::to_text(timeout) +
                    ": if the job is asked to stop, the ranks first agree on their last step, and "
                    "one of them may take too long for a step");
  }
  if (asks_to_train_) throw Error(*cause_);
  ++training_count_;
}

void Membership::end_training() noexcept {
  const std::lock_guard lock(mutex_);
  if (--training_count_ == 0 && client_) client_->report_trained(begun_);
}

// Does not throw cause_: the collectives of the step throw it.
bool Membership::begin_step(std::uint64_t step, base::Duration timeout) {
  std::unique_lock lock(mutex_);
  const auto knows = [this] { return !is_stop_asked_ || last_step_ || cause_; };
  if (!take_in_until(lock, timeout, knows)) {
    throw Error(ErrorCode::kTimeout,
                "rank " + std::to_string(rank_) +
                    ": the ranks did not agree on their last step within " +
                    base::to_text(timeout) +
                    ": one of them takes too long for a step, or between two steps");
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
