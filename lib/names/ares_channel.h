// Wraps a c-ares channel to the name servers: its sockets go into poll sets of rota, and the
// destructor closes the channel.
#pragma once
#include <ares.h>

#include <optional>
#include <vector>

#include "base/time.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::names {

class AresChannel {
 public:
  struct Options {
    std::vector<os::Address> servers;  // With their ports.
    bool by_stream = false;
    base::Duration patience{};  // Timeout for each server: the two tries together.
  };

  // No file and no environment variable influences the channel's answers. Throws Error kSystem,
  // kNoMemory.
  explicit AresChannel(const Options& options);
  AresChannel(const AresChannel&) = delete;
  AresChannel& operator=(const AresChannel&) = delete;

  // Calls the callback of every open query with ARES_EDESTRUCTION.
  ~AresChannel();

  ares_channel get() const noexcept { return channel_; }

  // Runs one iteration of an event loop. Never blocks. process() calls the callback of every query
  // that has an answer.
  void add_to(os::PollSet& polls) const;
  void process();
  std::optional<base::TimePoint> next_deadline() const;

 private:
  struct Socket {
    int fd = -1;
    bool reads = false;
    bool writes = false;
  };

  void note(const Socket& socket);

  ares_channel channel_ = nullptr;
  std::vector<Socket> sockets_;  // The sockets that c-ares waits for.
};

}  // namespace rota::names
