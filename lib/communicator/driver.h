// Runs the operations of one group, and detects when they cannot continue.
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

// Only one thread at a time may use a Driver; its owner decides which one.
class Driver {
 public:
  Driver(Group& group, OperationQueue& queue);

  // Moves what can be moved, and finishes complete operations. Returns true if anything happened.
  // Reads no clock. Throws Error kAborted, and what collectives::Running::step() throws.
  bool turn();

  // For a thread that finds nothing to move: checks for the first cause of an abort, for messages
  // from the launcher, and for the deadline. Throws the Error that ends the group.
  void look_around(base::TimePoint now);

  // Called before an operation is queued, if no other operation is under way.
  void make_ready() noexcept {
    for (collectives::Method* method : made_ready_) method->make_ready();
  }

  // Sleeps until something may have moved.
  void sleep(base::Duration at_most);

  // Ends the group: tells the launcher and the peers why. Returns the Error that later calls throw.
  // That Error tells what this rank was doing, and the known cause if there is one.
  Error fail(const Error& error) noexcept;

  // Returns which library may still use the buffers of operations, after fail(). Empty if none
  // does.
  std::string_view keeps_buffers() const noexcept;

 private:
  std::optional<collectives::Wait> awaited() const noexcept;
  std::size_t one_of_all(std::size_t first) const;
  // Throws the Error of a wait that is over: the peer has ended, or the deadline has passed.
  void judge(const collectives::Wait& wait);
  void judge_device();
  void report(const collectives::Wait& wait);
  std::string_view own_trouble() const noexcept;
  Evidence evidence() noexcept;

  Group& group_;
  OperationQueue& queue_;
  std::vector<collectives::Method*> made_ready_;  // Methods whose make_ready() does something.
  Window window_;
  Watch watch_;
  Messenger messenger_;
};

}  // namespace rota
