// A network between hosts that are far apart, on this one: callers from several loopback addresses,
// and a wire that takes its time.
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

// A connection on its way to `target` from the loopback address `source`, "127.0.0.9".
// Throws std::runtime_error.
os::Fd connect_from(const std::string& source, const os::Address& target);

// Passes on what comes, and what comes back, so much later each way.
class Relay {
 public:
  Relay(std::string source, const std::string& target, std::chrono::milliseconds delay);
  ~Relay();

  const std::string& address() const noexcept { return listener_.address; }

 private:
  struct Parcel {
    base::TimePoint due;
    std::string bytes;  // None: the end.
  };
  struct Way {
    os::Fd socket{};
    std::deque<Parcel> parcels{};  // To it.
    bool is_heard = true;
  };
  struct Wire {
    base::TimePoint call_at;  // The target.
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

// Sockets that say nothing, from so many addresses, opened anew as they are hung up on.
class Flood {
 public:
  // Returns once each of them has been opened. The addresses are of 127.0.1.0/24.
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
