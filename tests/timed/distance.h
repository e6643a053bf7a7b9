// Simulates a network between distant hosts on this host: callers from several loopback addresses,
// and a slow connection.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "os/address.h"
#include "os/fd.h"
#include "os/listener.h"
#include "os/poll_set.h"

namespace rota::testing {

// Starts a connection to `target` from the loopback address `source`, "127.0.0.9".
// Throws std::runtime_error.
os::Fd connect_from(const std::string& source, const os::Address& target);

// Passes bytes on in both directions, each delayed by `delay`.
class Relay {
 public:
  Relay(std::string source, const std::string& target, std::chrono::milliseconds delay);
  ~Relay();

  const std::string& address() const noexcept { return listener_.address; }

 private:
  struct Parcel {
    base::TimePoint due;
    std::string bytes;  // Empty: the end.
  };
  struct Way {
    os::Fd socket{};
    std::deque<Parcel> parcels{};  // On the way to `socket`.
    bool is_heard = true;
  };
  struct Wire {
    base::TimePoint call_at;  // When to call the target.
    Way caller;
    Way target;
    bool is_over = false;
  };

  void run();
  base::TimePoint turn(base::TimePoint now);
  void accept(base::TimePoint now);
  void hear(Way& from, Way& to, base::TimePoint now);
  static bool deliver(Way& to, base::TimePoint now);

  std::string source_;
  os::Address target_;
  std::chrono::milliseconds delay_;
  os::Listener listener_;
  std::list<Wire> wires_;
  os::PollSet polls_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

// Holds connections from several addresses that send nothing. Each connection is opened again when
// the other side closes it.
class Flood {
 public:
  // Returns once each socket has been opened. The addresses are in 127.0.1.0/24.
  Flood(const std::string& target, std::size_t socket_count, std::size_t source_count);
  ~Flood();

  std::size_t opened_count() const noexcept { return opened_count_; }

 private:
  void run();
  void open(std::size_t index);

  os::Address target_;
  std::size_t source_count_;
  std::vector<os::Fd> sockets_;
  std::atomic<std::size_t> opened_count_{0};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace rota::testing
