// A job's coordinator in the process of one of its ranks, rank 0, where no launcher has it; and how
// the other ranks reach it.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "auth/handshake.h"
#include "auth/reception.h"
#include "base/time.h"
#include "os/fd.h"
#include "os/poll_set.h"
#include "rendezvous/line.h"
#include "rendezvous/switchboard.h"

namespace rota::rendezvous {

// Serves from a thread of its own. The other ranks call `listener`, and prove that they hold the
// key of `own`.
class Host {
 public:
  // `job` is what every rank is told, apart from its rank. Throws Error kSystem.
  Host(const Job& job, const auth::Credentials& own, os::Fd listener);

  // Hands on what rank 0 has said, and ends. Waits for nobody.
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Rank 0's own line. To be taken once.
  std::unique_ptr<Line> take_line() noexcept { return std::move(own_line_); }

 private:
  void serve() noexcept;
  void turn();
  void wait();
  auth::Judgement judge(const auth::Identity& caller) const;
  void notice_departures();
  void give_up(const std::string& why) noexcept;

  std::size_t world_size_;
  std::uint64_t epoch_;
  os::Fd listener_;
  Switchboard switchboard_;
  auth::Reception reception_;
  std::vector<bool> is_there_;  // By rank: its line stood when we looked last.
  std::unique_ptr<Line> own_line_;
  os::PollSet polls_;
  base::TimePoint now_;
  os::Wakeup wakeup_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

// Calls rank 0 at `address`, "host:port", until it answers. Throws Error kTimeout at `deadline`,
// saying what was in the way; kMismatch where it refuses this rank, kSystem.
std::unique_ptr<Line> call_host(const std::string& address, const auth::Credentials& own,
                                const auth::Identity& identity, base::TimePoint deadline);

}  // namespace rota::rendezvous
