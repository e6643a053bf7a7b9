// Runs the operations of one group, one after the other, and notices when they cannot go on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>

#include "base/time.h"
#include "collectives/engine.h"
#include "communicator/group.h"
#include "communicator/operation_queue.h"

namespace rota {

// One thread at a time; whose turn it is, is its owner's business.
class Driver {
 public:
  Driver(Group& group, OperationQueue& queue);

  // Moves what can be moved, finishes what is finished. True if anything happened. Reads no clock.
  // Throws Error kPeerLost, kMismatch.
  bool turn();

  // What a thread does that finds nothing to move: looks at the first cause, at what the launcher
  // says, and at the deadline. Throws the Error that ends the group.
  void look_around(base::TimePoint now);

  // Sleeps until something may have moved.
  void rest(base::Duration at_most);

  // Ends the group: tells peers and launcher why. Returns the error as later calls will throw it,
  // which says what this rank was doing, and prefers what is known of the cause.
  Error fail(const Error& error) noexcept;

 private:
  void hear_notices();
  void check_deadline(base::TimePoint now, const collectives::Wait& wait);
  void report_wait(base::TimePoint now, const std::optional<collectives::Wait>& wait);
  void end_report() noexcept;
  std::string lost_text(const Error& error, std::size_t peer);
  std::string describe_wait(const collectives::Wait& wait) const;
  std::string name_of(std::size_t rank) const;

  Group& group_;
  OperationQueue& queue_;
  collectives::Engine engine_;
  bool running_ = false;  // The engine has the front of the queue.

  base::TimePoint last_look_{};
  base::TimePoint last_heard_{};                      // When the launcher was listened to.
  base::TimePoint first_look_{};                      // At the running operation; its clock starts.
  std::optional<std::size_t> reported_wait_;          // The peer that the launcher was told about.
  std::vector<std::optional<std::string>> departed_;  // Index = rank: how it ended.
};

}  // namespace rota
