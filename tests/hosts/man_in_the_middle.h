// A ManInTheMiddle is an attacker between two launchers. It passes on their messages and, on
// request, changes them.
#pragma once
#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "auth/conversation.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "testing/network.h"

namespace rota::testing {

class ManInTheMiddle {
 public:
  // What `victim` sends to `leader` at "10.77.0.1:7700" goes to the attacker on host `own` instead.
  // The attacker calls the real leader from the leader's own host.
  struct Place {
    std::size_t victim = 0;
    std::size_t own = 0;
    std::size_t leader = 0;
  };
  ManInTheMiddle(const Network& network, const Place& place, const std::string& address);
  ~ManInTheMiddle();

  enum class Trick { kNone, kFlipABit, kRepeat, kSwap, kLeaveOut, kLengthen };

  // Plays the trick once, with the next frame in that direction.
  void play(Trick trick, bool is_to_leader);

  // Passes on all bytes unchanged, and keeps a copy. Call it before any connection.
  void only_listen() { only_listens_ = true; }
  std::string heard() const;

  // Starts or stops changing the suite that the leader's challenge offers.
  void change_suites(bool do_change) { changes_suites_ = do_change; }

 private:
  struct Stream {
    os::Fd from;
    os::Fd* to = nullptr;
    std::size_t handshake_bytes = 0;  // Still to come.
    bool is_to_leader = false;
    bool is_first = true;
    auth::Bytes unsent;  // An incomplete frame.
    auth::Bytes kept;    // Sent after the next frame.
  };
  struct Connection {
    Stream up;
    Stream down;
  };

  void serve();
  void accept();
  bool pass_on(Stream& stream);
  void deliver(Stream& stream, auth::Bytes frame);

  const Network& network_;
  Place place_;
  std::string address_;
  os::Listener listener_;
  std::list<Connection> connections_;
  os::Wakeup wakeup_;
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> changes_suites_{false};
  std::atomic<bool> only_listens_{false};
  mutable std::mutex mutex_;
  std::string heard_;
  std::atomic<Trick> trick_{Trick::kNone};
  std::atomic<bool> is_trick_to_leader_{true};
  std::thread thread_;
};

}  // namespace rota::testing
