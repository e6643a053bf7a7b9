// Waiting for any of several descriptors, with an end to the wait.
#pragma once
#include <poll.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"
#include "os/fd.h"

namespace rota::os {

// Filled anew for each wait: clear, add, wait, then ask by the position that add gave.
class PollSet {
 public:
  void clear() noexcept {
    items_.clear();
    expected_.clear();
  }
  std::size_t add(int fd, bool for_reading, bool for_writing);

  // What was added at `position` counts as readable whatever the descriptor says: what it is for
  // has taken something from it already that nobody has seen yet.
  void expect(std::size_t position);

  // Returns when a descriptor is ready or `deadline` has passed; no deadline means no limit.
  // Throws Error kSystem.
  void wait(std::optional<base::TimePoint> deadline);

  // An end or an error of the descriptor counts as ready, so that whoever asks comes to see it.
  bool readable(std::size_t position) const noexcept;
  bool writable(std::size_t position) const noexcept;

 private:
  std::vector<pollfd> items_;
  std::vector<std::size_t> expected_;
};

// A descriptor among others that a thread waits for, with which another thread ends the wait.
class Wakeup {
 public:
  Wakeup();  // Throws Error kSystem.

  int fd() const noexcept { return fd_.get(); }

  // Makes it readable until the next clear(). Any thread may call it.
  void wake() noexcept;
  void clear() noexcept;

 private:
  Fd fd_;
};

}  // namespace rota::os
