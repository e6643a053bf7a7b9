// A collective under way.
#pragma once
#include <cstdint>
#include <memory>

namespace rota {

// Says when a collective has finished, and how. Cheap to copy; may outlive its Communicator.
// Dropping a Request neither waits nor cancels: the values stay lent until the collective is done.
class Request {
 public:
  Request() = default;  // Already done.

  // Blocks until the collective has finished; its values are the caller's again.
  // Throws Error: kTimeout, kPeerLost, kMismatch or kAborted when it failed, kClosed when the
  // Communicator was closed meanwhile; the values are then unspecified.
  void wait();

  // True once wait() would return, or throw, at once.
  bool test();

 private:
  friend class Communicator;
  class Source;
  Request(std::shared_ptr<Source> source, std::uint64_t sequence) noexcept;

  std::shared_ptr<Source> source_;
  std::uint64_t sequence_ = 0;
};

}  // namespace rota
