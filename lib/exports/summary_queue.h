// Holds the summaries that wait to be written, with a limit. It has no lock and no clock: its owner
// has both.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "formats/events.h"

namespace rota::exports {

class SummaryQueue {
 public:
  SummaryQueue(std::size_t most_summaries, std::size_t most_bytes) noexcept
      : most_summaries_(most_summaries), most_bytes_(most_bytes) {}

  // Drops the oldest summaries if there is no room for `event`. An event that alone is larger than
  // the limit stays until the next one comes.
  void push(formats::Event event) {
    if (!first_step_) first_step_ = event.step;
    last_step_ = event.step;
    bytes_ += bytes_of(event);
    events_.push_back(std::move(event));
    while (events_.size() > 1 && (events_.size() > most_summaries_ || bytes_ > most_bytes_)) {
      bytes_ -= bytes_of(events_.front());
      events_.pop_front();
      ++dropped_;
    }
  }

  // Returns whether it is time to write, before the queue is full and must drop summaries.
  bool is_half_full() const noexcept {
    return events_.size() >= most_summaries_ / 2 + 1 || bytes_ >= most_bytes_ / 2;
  }

  std::deque<formats::Event> take() noexcept {
    bytes_ = 0;
    std::deque<formats::Event> taken;
    taken.swap(events_);
    return taken;
  }

  std::uint64_t dropped() const noexcept { return dropped_; }
  // These functions return the steps of the first event and of the latest one, written or not.
  std::optional<std::int64_t> first_step() const noexcept { return first_step_; }
  std::int64_t last_step() const noexcept { return last_step_; }

 private:
  std::size_t most_summaries_;
  std::size_t most_bytes_;
  std::deque<formats::Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::optional<std::int64_t> first_step_;
  std::int64_t last_step_ = 0;
};

}  // namespace rota::exports
