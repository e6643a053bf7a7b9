// The sockets between the ranks and the coordinator: receives, hands on, and sends what is left in
// the coordinator's outbox, with the descriptors that go with a welcome.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/job_plan.h"
#include "os/fd.h"
#include "os/message_socket.h"
#include "os/poll_set.h"
#include "rendezvous/coordinator.h"

namespace rota::launcher {

class Mailroom {
 public:
  // Told each message of a rank, after the coordinator.
  using Listener = std::function<void(std::size_t rank, const rendezvous::Message& message)>;

  // Makes the arenas, or the listening sockets. Throws Error kSystem, kNoMemory.
  Mailroom(const JobPlan& plan, Listener listener);

  // The rank's end of its socket, made now.
  os::Fd open(std::size_t rank);

  // One turn of the loop. Never blocks.
  void add_to(os::PollSet& polls, base::TimePoint now);
  void handle(const os::PollSet& polls, base::TimePoint now);
  void send_all(base::TimePoint now);

  // Everything that a rank has sent until now.
  void read_all(std::size_t rank, base::TimePoint now);

  void on_departure(std::size_t rank, const std::string& how) {
    coordinator_.on_departure(rank, how);
  }
  void on_time(base::TimePoint now) { coordinator_.on_time(now); }
  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;

 private:
  // A message that the rank's socket has no room for yet.
  struct Parcel {
    std::vector<std::byte> bytes;
    std::vector<int> fds;
  };
  struct Box {
    os::Fd socket;
    std::deque<Parcel> parcels;
    std::optional<base::TimePoint> retry_at;  // While the socket refuses.
    std::size_t position = kNotPolled;
    bool is_welcomed = false;
  };
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  void read(std::size_t rank, std::size_t most_messages, base::TimePoint now);
  os::Io receive(int socket);
  void post(const rendezvous::Outgoing& outgoing);
  void post_welcome(std::size_t rank, const rendezvous::Message& welcome);
  void send(std::size_t rank, base::TimePoint now);
  void release_descriptors(std::size_t rank);

  bool are_arenas_;  // What is lent.
  rendezvous::Job job_;
  std::vector<os::Fd> lent_;  // Index: rank. Arenas, which all get; or sockets, one for each.
  rendezvous::Coordinator coordinator_;
  Listener listener_;
  std::vector<Box> boxes_;
  std::size_t welcomed_count_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<os::Fd> fds_;
};

}  // namespace rota::launcher
