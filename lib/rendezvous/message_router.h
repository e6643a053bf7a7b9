// Passes the ranks' messages to the coordinator, and sends the coordinator's answers.
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
#include "rendezvous/connections.h"
#include "rendezvous/coordinator.h"

namespace rota::rendezvous {

class MessageRouter {
 public:
  // Callbacks to the owner. Each one is optional.
  struct Hooks {
    // Called for each message, after the coordinator has handled it.
    std::function<void(std::size_t rank, const Message& message)> heard;
    // Returns the descriptors to send with the rank's kWelcome. The first is that of the rank
    // table.
    std::function<std::vector<int>(std::size_t rank)> descriptors_of;
    std::function<void(std::size_t rank)> descriptors_sent;  // All of them have been sent.
  };
  MessageRouter(const Job& job, Hooks hooks);
  MessageRouter(const MessageRouter&) = delete;
  MessageRouter& operator=(const MessageRouter&) = delete;

  void connect(std::size_t rank, std::unique_ptr<Connection> connection) {
    connections_.connect(rank, std::move(connection));
  }
  void disconnect(std::size_t rank) noexcept { connections_.disconnect(rank); }

  // Returns whether the rank's connection is open. A connection that the rank has ended counts as
  // open until all messages that came over it have been passed on.
  bool is_connected(std::size_t rank) const noexcept { return connections_.is_connected(rank); }

  // Runs one iteration of an event loop. Never blocks.
  void add_to(os::PollSet& polls, base::TimePoint now) { connections_.add_to(polls, now); }
  void handle(const os::PollSet& polls, base::TimePoint now);
  void send_all(base::TimePoint now);

  // Returns whether messages that send_all() has taken have not left this process yet.
  bool is_sending() const noexcept { return connections_.is_sending(); }

  // Reads everything that the rank has sent until now.
  void read_all(std::size_t rank, base::TimePoint now);

  void on_departure(std::size_t rank, const std::string& how) {
    coordinator_.on_departure(rank, how);
  }
  void on_time(base::TimePoint now) { coordinator_.on_time(now); }
  bool has_joined(std::size_t rank) const { return coordinator_.has_joined(rank); }
  const std::string& table_text() const noexcept { return coordinator_.table_text(); }

  // Ends the job for all ranks that have joined.
  void abort(ErrorCode error, const std::string& why) { coordinator_.abort(error, why); }

  // can_stop() returns whether the ranks can agree on a step to stop after; stop() makes them
  // agree.
  bool can_stop() const { return coordinator_.can_stop(); }
  void stop() { coordinator_.stop(); }

  // Notes why the last process that tried to connect was refused. The text appears when a barrier
  // times out.
  void note_stranger(const std::string& why) { coordinator_.note_stranger(why); }
  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;

 private:
  void on_bytes(std::size_t rank, std::span<const std::byte> bytes);

  Coordinator coordinator_;
  Hooks hooks_;
  Connections connections_;
  base::TimePoint now_{};  // Time of the current iteration.
};

}  // namespace rota::rendezvous
