// A PmixLink is one end of the connection between rotarun and its PMIx server. It carries whole
// PMIx messages of any size over a pair of local message sockets.
#pragma once
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "launcher/pmix/wire/pmix_message.h"
#include "os/fd.h"
#include "os/poll_set.h"

namespace rota::launcher {

class PmixLink {
 public:
  explicit PmixLink(os::Fd socket) : socket_(std::move(socket)) {}

  // Queues a message. Does nothing on a closed link.
  void send(const PmixMessage& message);

  // Each of these functions makes one iteration of a loop, and never blocks. The link closes when
  // the other end does, or when bytes arrive that are no message.
  std::size_t add_to(os::PollSet& polls) const;
  void send_all();
  std::vector<PmixMessage> receive();

  int fd() const noexcept { return socket_.get(); }
  bool is_open() const noexcept { return static_cast<bool>(socket_); }
  bool is_quiet() const noexcept { return unsent_.empty(); }
  void close() noexcept { socket_ = os::Fd(); }

 private:
  bool take_frame(std::vector<PmixMessage>& messages);

  os::Fd socket_;
  std::deque<std::vector<std::byte>> unsent_;
  std::vector<std::byte> bytes_;
  std::vector<os::Fd> fds_;
  std::vector<std::byte> arrived_;  // The bytes of one message, so far.
};

}  // namespace rota::launcher
