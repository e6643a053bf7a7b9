// Waits for any of several descriptors, until a deadline.
#pragma once
#include <poll.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"
#include "os/fd.h"

namespace rota::os {

// The caller fills the set again for each wait: clear(), add(), wait(). Then the caller asks about
// a descriptor by the position that add() returned.
class PollSet {
 public:
  void clear() noexcept {
    items_.clear();
    expected_.clear();
  }
  std::size_t add(int fd, bool for_reading, bool for_writing);

  // Makes the entry at `position` count as readable, even if its descriptor is not. This is for a
  // connection that has received bytes from the descriptor and whose caller has not read these
  // bytes.
  void expect(std::size_t position);

  // Returns when a descriptor is ready or `deadline` has passed; no deadline means no limit.
  // Throws Error kSystem.
  void wait(std::optional<base::TimePoint> deadline);

  // The next two functions return whether the descriptor is ready. A descriptor that has ended or
  // failed counts as ready, so that the caller reads or writes and sees the end or the error.
  bool readable(std::size_t position) const noexcept;
  bool writable(std::size_t position) const noexcept;

 private:
  std::vector<pollfd> items_;
  std::vector<std::size_t> expected_;
};

// Lets a thread end the wait of another thread, which has fd() in its PollSet.
class Wakeup {
 public:
  Wakeup();  // Throws Error kSystem.

  int fd() const noexcept { return fd_.get(); }

  // Makes fd() readable until the next clear(). Any thread may call it.
  void wake() noexcept;
  void clear() noexcept;

 private:
  Fd fd_;
};

}  // namespace rota::os
