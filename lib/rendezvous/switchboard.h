// The lines between the ranks and the coordinator: receives, hands on, and sends what is left in
// the coordinator's outbox.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/fd.h"
#include "os/poll_set.h"
#include "rendezvous/coordinator.h"
#include "rendezvous/line.h"

namespace rota::rendezvous {

class Switchboard {
 public:
  // What its owner wants to know, or has to give. None of them has to be there.
  struct Hooks {
    std::function<void(std::size_t rank, const Message& message)> heard;  // After the coordinator.
    std::function<std::vector<int>(std::size_t rank)> lend;  // The descriptors of its welcome,
    std::function<void(std::size_t rank)> lent;              // which it has been sent.
  };
  Switchboard(const Job& job, Hooks hooks);

  void connect(std::size_t rank, std::unique_ptr<Line> line);
  void disconnect(std::size_t rank) noexcept { boxes_[rank].line.reset(); }

  // Whether the rank's line stands. One that ended has handed on all that came over it.
  bool is_connected(std::size_t rank) const noexcept { return boxes_[rank].line != nullptr; }

  // One turn of a loop. Never blocks.
  void add_to(os::PollSet& polls, base::TimePoint now);
  void handle(const os::PollSet& polls, base::TimePoint now);
  void send_all(base::TimePoint now);

  // Everything that a rank has sent until now.
  void read_all(std::size_t rank, base::TimePoint now);

  void on_departure(std::size_t rank, const std::string& how) {
    coordinator_.on_departure(rank, how);
  }
  void on_time(base::TimePoint now) { coordinator_.on_time(now); }
  bool has_joined(std::size_t rank) const { return coordinator_.has_joined(rank); }

  // Ends the job for all who have joined.
  void abort(ErrorCode error, const std::string& why) { coordinator_.abort(error, why); }

  // What was wrong with the last caller who was turned away: for those who wait in vain.
  void note_stranger(const std::string& why) { coordinator_.note_stranger(why); }
  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;

 private:
  // A message that the rank's line has no room for yet.
  struct Parcel {
    std::vector<std::byte> bytes;
    std::vector<int> fds;
  };
  struct Box {
    std::unique_ptr<Line> line;
    std::deque<Parcel> parcels;
    std::optional<base::TimePoint> retry_at;  // While the line refuses.
    std::size_t position = kNotPolled;
  };
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  void read(std::size_t rank, std::size_t most_messages, base::TimePoint now);
  os::Io receive(Line& line);
  void post(const Outgoing& outgoing);
  void send(std::size_t rank, base::TimePoint now);

  Coordinator coordinator_;
  Hooks hooks_;
  std::vector<Box> boxes_;
  std::vector<std::byte> bytes_;
  std::vector<os::Fd> fds_;
};

}  // namespace rota::rendezvous
