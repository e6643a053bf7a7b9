// Stream sockets that never block.
#pragma once
#include <poll.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "os/fd.h"

namespace rota::os {

// Starts to connect to "a.b.c.d:port"; poll for kWritable, then ask connect_result().
// Throws Error kSystem, kInvalidArgument for an address that is none.
Fd start_connect(const std::string& address);

// Empty when the connection stands, else the reason why it does not.
std::optional<std::string> connect_result(int socket);

// The next waiting connection of a listening socket, or an empty Fd. Throws Error kSystem.
Fd accept_connection(int listener);

// Small messages leave at once.
void set_no_delay(int socket);

// What one call moved. A connection that ended has `closed` and the reason.
struct Moved {
  std::size_t bytes = 0;
  bool closed = false;
  std::string reason;
};

// Neither blocks nor raises SIGPIPE.
Moved send_some(int socket, std::span<const std::byte> first, std::span<const std::byte> second);
Moved receive_some(int socket, std::span<std::byte> into);

// Waits for several descriptors at once. Keeps its memory from one wait to the next.
class Poller {
 public:
  void clear() noexcept { polls_.clear(); }
  void add(int fd, bool readable, bool writable);

  // Returns when one of them is ready, or at its end, or when the time is over. Throws Error
  // kSystem.
  void wait(std::chrono::nanoseconds at_most);

 private:
  std::vector<pollfd> polls_;
};

}  // namespace rota::os
