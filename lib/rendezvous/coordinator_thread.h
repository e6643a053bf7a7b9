// Runs a job's coordinator in the process of rank 0, for jobs without a launcher. Also connects the
// other ranks to the coordinator.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "auth/acceptor.h"
#include "auth/handshake.h"
#include "base/time.h"
#include "os/fd.h"
#include "os/poll_set.h"
#include "rendezvous/connection.h"
#include "rendezvous/message_router.h"

namespace rota::rendezvous {

// Serves in its own thread. The other ranks connect to `listener`, and prove that they have the key
// of `own`.
class CoordinatorThread {
 public:
  // `job` is sent to every rank, each time with the receiver's rank. Throws Error kSystem.
  CoordinatorThread(const Job& job, const auth::Credentials& own, os::Fd listener);

  // Passes on what rank 0 has sent, and ends the thread. While a connection has no room for that,
  // waits, for a second at most.
  ~CoordinatorThread();
  CoordinatorThread(const CoordinatorThread&) = delete;
  CoordinatorThread& operator=(const CoordinatorThread&) = delete;

  // Returns rank 0's own connection. It can be taken only once.
  std::unique_ptr<Connection> take_connection() noexcept { return std::move(own_connection_); }

 private:
  void serve() noexcept;
  void turn(std::optional<base::TimePoint> latest = {});
  void wait(std::optional<base::TimePoint> latest);
  void send_rest();
  auth::Admission judge(const auth::Identity& caller) const;
  bool have_all_joined() const;
  void notice_departures();
  void give_up(const std::string& why) noexcept;

  std::size_t world_size_;
  std::uint64_t epoch_;
  os::Fd listener_;
  MessageRouter router_;
  auth::Acceptor acceptor_;
  bool has_begun_ = false;      // All ranks have joined.
  std::vector<bool> is_there_;  // By rank: its connection was open in the last iteration.
  std::unique_ptr<Connection> own_connection_;
  os::PollSet polls_;
  base::TimePoint now_;
  os::Wakeup wakeup_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

// Connects to rank 0 at one of `addresses`, each "host:port", and tries again until rank 0 answers.
// Throws Error kTimeout at `deadline`, with the reason in its text; kMismatch if rank 0 refuses
// this rank; kSystem.
std::unique_ptr<Connection> call_coordinator(const std::vector<std::string>& addresses,
                                             const auth::Credentials& own,
                                             const auth::Identity& identity,
                                             base::TimePoint deadline);

}  // namespace rota::rendezvous
