// Keeps what the coordinator says, so that every communicator of the process hears it.
#include "communicator/membership.h"

namespace rota {

Membership::~Membership() {
  if (client_) client_->leave();
  if (board_) (*board_)[rank_].store(true, std::memory_order_release);
}

std::optional<Error> Membership::hear() {
  const std::lock_guard lock(mutex_);
  while (client_ && !cause_) {
    const auto notice = client_->next_notice();
    if (!notice) break;
    if (notice->type == rendezvous::MessageType::kAborted) {
      const bool mismatch = notice->error == ErrorCode::kMismatch;
      const ErrorCode code = mismatch ? ErrorCode::kMismatch : ErrorCode::kAborted;
      cause_ =
          notice->blamed ? Error(code, notice->text, *notice->blamed) : Error(code, notice->text);
    } else if (notice->type == rendezvous::MessageType::kDeparted && notice->blamed &&
               *notice->blamed < departures_.size()) {
      auto& departure = departures_[*notice->blamed];
      if (!departure) departure = notice->text;  // The first word: "left" comes before the end.
    }
  }
  for (std::size_t rank = 0; board_ && rank < departures_.size(); ++rank) {
    if (!departures_[rank] && (*board_)[rank].load(std::memory_order_acquire)) {
      departures_[rank] = "left";
    }
  }
  return cause_;
}

std::optional<std::string> Membership::departure(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  return departures_[rank];
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
