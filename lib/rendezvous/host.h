// A job's coordinator in the process of one of its ranks, rank 0, where no launcher has it.
#pragma once
#include <atomic>
#include <cstddef>
#include <list>
#include <optional>
#include <thread>

#include "auth/handshake.h"
#include "auth/key.h"
#include "os/fd.h"
#include "os/poll_set.h"
#include "rendezvous/switchboard.h"

namespace rota::rendezvous {

// Serves from a thread of its own. The other ranks call `listener`, and prove that they hold `key`.
class Host {
 public:
  // `job` is what every rank is told, apart from its rank. Throws Error kSystem.
  Host(const Job& job, const auth::Key& key, os::Fd listener);

  // Hands on what rank 0 has said, and ends. Waits for nobody.
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Rank 0's own line. To be taken once.
  std::unique_ptr<Line> take_line() noexcept { return std::move(own_line_); }

 private:
  // Who has called, and has not said yet who it is.
  struct Caller {
    os::Fd socket;
    auth::Handshake handshake;
    base::TimePoint since;
  };

  // A line that ended is not followed by another.
  enum class Seat : std::uint8_t { kFree, kTaken, kLeft };

  void serve() noexcept;
  void turn();
  void wait();
  void accept_callers();
  void advance(Caller& caller);
  void judge(auth::Handshake& handshake) const;
  void notice_departures();

  std::size_t world_size_;
  std::uint64_t epoch_;
  auth::Key key_;
  os::Fd listener_;
  Switchboard switchboard_;
  std::unique_ptr<Line> own_line_;
  std::vector<Seat> seats_;  // By rank.
  std::list<Caller> callers_;
  os::PollSet polls_;
  base::TimePoint now_;
  os::Wakeup wakeup_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace rota::rendezvous
