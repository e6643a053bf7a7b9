// Lets this rank wake one local peer, and lets that peer wake this rank. Local peers write messages
// to memory, where a sleeping rank does not see them. A byte over their connection tells the
// sleeping rank to check its memory.
#pragma once
#include <cstddef>
#include <optional>

#include "auth/stream.h"
#include "os/poll_set.h"
#include "transport/shm/arena_layout.h"
#include "transport/shm/channel.h"

namespace rota::transport {

class SocketDoorbell final : public shm::Doorbell {
 public:
  // `flag`: the doorbell flag of the local peer.
  SocketDoorbell(auth::Stream stream, shm::DoorbellFlag& flag);

  // A sleeping peer is woken once, by the first rank that rings.
  void ring() override;

  // add_to() must be called before a sleep, and handle() after it.
  void add_to(os::PollSet& polls);
  void handle(const os::PollSet& polls);

 private:
  auth::Stream stream_;
  shm::DoorbellFlag& flag_;
  std::optional<std::size_t> position_;  // In the PollSet of the wait.
};

}  // namespace rota::transport
