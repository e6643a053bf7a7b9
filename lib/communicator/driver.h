// Runs the operations of one group, and notices when they cannot go on.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include <rota/error.h>

#include "base/time.h"
#include "collectives/running.h"
#include "communicator/blame.h"
#include "communicator/group.h"
#include "communicator/messenger.h"
#include "communicator/operation_queue.h"
#include "communicator/watch.h"
#include "communicator/window.h"

namespace rota {

// One thread at a time; whose turn it is, is its owner's business.
class Driver {
 public:
  Driver(Group& group, OperationQueue& queue);

  // Moves what can be moved, finishes what is finished. True if anything happened. Reads no clock.
  // Throws Error kPeerLost, kMismatch, kAborted, kNoMemory.
  bool turn();

  // What a thread does that finds nothing to move: looks at the first cause, at what the launcher
  // says, and at the deadline. Throws the Error that ends the group.
  void look_around(base::TimePoint now);

  // For who is about to queue an operation, and none is under way.
  void make_ready() noexcept {
    for (collectives::Method* method : made_ready_) method->make_ready();
  }

  // Sleeps until something may have moved.
  void rest(base::Duration at_most);

  // Ends the group: tells launcher and peers why. Returns the error as later calls will throw it,
  // which says what this rank was doing, and prefers what is known of the cause.
  Error fail(const Error& error) noexcept;

 private:
  std::optional<collectives::Wait> awaited() const noexcept;
  // Throws the Error of a wait that has ended.
  void judge(const collectives::Wait& wait);
  void report(const collectives::Wait& wait);
  std::string_view own_trouble() const noexcept;
  Evidence evidence() noexcept;

  Group& group_;
  OperationQueue& queue_;
  std::vector<collectives::Method*> made_ready_;  // Those that have anything to be made ready.
  Window window_;
  Watch watch_;
  Messenger messenger_;
};

}  // namespace rota
