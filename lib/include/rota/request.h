// A collective under way.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <rota/export.h>

namespace rota {

// Says when a collective has finished, and how. Cheap to copy; may outlive its Communicator.
// Dropping a Request neither waits nor cancels: the values stay lent until the collective is done.
class ROTA_EXPORT Request {
 public:
  Request() = default;  // Already done.

  // Blocks until the collective has finished; its values are the caller's again. Another thread
  // than the one that has the Communicator may wait, also while that closes it.
  // Throws Error: kTimeout, kPeerLost, kMismatch or kAborted when it failed, kClosed when the
  // Communicator was closed meanwhile; the values are then unspecified.
  void wait();

  // The same, but returns false once `timeout` has passed; the collective goes on.
  bool wait_for(std::chrono::nanoseconds timeout);

  // True once wait() would return, or throw, at once.
  bool test();

 private:
  friend class Communicator;
  class ROTA_HIDDEN Source;
  Request(std::shared_ptr<Source> source, std::uint64_t sequence) noexcept;

  std::shared_ptr<Source> source_;
  std::uint64_t sequence_ = 0;
};

// Waits for each of them. Throws what the first one that failed throws, once all have ended.
ROTA_EXPORT void wait_all(std::span<Request> requests);

}  // namespace rota
