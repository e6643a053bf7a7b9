// Wakes one mate, and is woken by it. What mates say to each other lies in memory, and nobody who
// sleeps sees it there: a byte over their connection says that there is something to see.
#pragma once
#include <cstddef>
#include <optional>

#include "auth/stream.h"
#include "os/poll_set.h"
#include "transport/shm/channel.h"
#include "transport/shm/layout.h"

namespace rota::transport {

class Bell final : public shm::Doorbell {
 public:
  // `rings`: the mate's.
  Bell(auth::Stream stream, shm::Rings& rings);

  // Whoever sleeps is woken once, by whoever comes first.
  void ring() override;

  // Before a sleep, and after it.
  void add_to(os::PollSet& polls);
  void heed(const os::PollSet& polls);

 private:
  auth::Stream stream_;
  shm::Rings& rings_;
  std::optional<std::size_t> position_;  // In the set that is waited for.
};

}  // namespace rota::transport
