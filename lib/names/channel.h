// c-ares' way to the name servers, as a class: its sockets in our poll sets, its end in a
// destructor.
#pragma once
#include <ares.h>

#include <optional>
#include <vector>

#include "base/time.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::names {

class Channel {
 public:
  struct Options {
    std::vector<os::Address> servers;  // With their ports.
    bool by_stream = false;
    base::Duration patience{};  // With each server, in two tries.
  };

  // Depends on no file and no variable. Throws Error kSystem.
  explicit Channel(const Options& options);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Calls back whoever still waits, with ARES_EDESTRUCTION.
  ~Channel();

  ares_channel get() const noexcept { return channel_; }

  // One turn of a loop. Never blocks; process() calls back those whose answers are there.
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
  std::vector<Socket> sockets_;  // Those that it waits for.
};

}  // namespace rota::names
