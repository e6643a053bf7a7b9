// The coordinator, and the lines by which it is asked and answers.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/poll_set.h"
#include "rendezvous/coordinator.h"
#include "rendezvous/lines.h"

namespace rota::rendezvous {

class Switchboard {
 public:
  // What its owner wants to know, or has to give. None of them has to be there.
  struct Hooks {
    std::function<void(std::size_t rank, const Message& message)> heard;  // After the coordinator.
    std::function<std::vector<int>(std::size_t rank)> lend;  // Of its welcome, the table first,
    std::function<void(std::size_t rank)> lent;              // which it has been sent.
  };
  Switchboard(const Job& job, Hooks hooks);
  Switchboard(const Switchboard&) = delete;
  Switchboard& operator=(const Switchboard&) = delete;

  void connect(std::size_t rank, std::unique_ptr<Line> line) {
    lines_.connect(rank, std::move(line));
  }
  void disconnect(std::size_t rank) noexcept { lines_.disconnect(rank); }

  // Whether the rank's line stands. One that ended has handed on all that came over it.
  bool is_connected(std::size_t rank) const noexcept { return lines_.is_connected(rank); }

  // One turn of a loop. Never blocks.
  void add_to(os::PollSet& polls, base::TimePoint now) { lines_.add_to(polls, now); }
  void handle(const os::PollSet& polls, base::TimePoint now);
  void send_all(base::TimePoint now);

  // Everything that a rank has sent until now.
  void read_all(std::size_t rank, base::TimePoint now);

  void on_departure(std::size_t rank, const std::string& how) {
    coordinator_.on_departure(rank, how);
  }
  void on_time(base::TimePoint now) { coordinator_.on_time(now); }
  bool has_joined(std::size_t rank) const { return coordinator_.has_joined(rank); }
  const std::string& table_text() const noexcept { return coordinator_.table_text(); }

  // Ends the job for all who have joined.
  void abort(ErrorCode error, const std::string& why) { coordinator_.abort(error, why); }

  // Whether the ranks can agree on a step to stop after; and has them do it.
  bool can_stop() const { return coordinator_.can_stop(); }
  void stop() { coordinator_.stop(); }

  // What was wrong with the last caller who was turned away: for those who wait in vain.
  void note_stranger(const std::string& why) { coordinator_.note_stranger(why); }
  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;

 private:
  void on_bytes(std::size_t rank, std::span<const std::byte> bytes);

  Coordinator coordinator_;
  Hooks hooks_;
  Lines lines_;
  base::TimePoint now_{};  // Of the turn.
};

}  // namespace rota::rendezvous
