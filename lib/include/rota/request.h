// Has a handle to a collective, or to a send or receive, that is under way.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <rota/export.h>

namespace rota {

// Tells when a collective has finished, and how. Cheap to copy; may outlive its Communicator.
// Dropping a Request neither waits nor cancels: the values stay borrowed until the collective is
// done.
class ROTA_EXPORT Request {
 public:
  Request() = default;  // Already done.

  // Blocks until the collective has finished. Then its values belong to the caller again. A thread
  // other than the one that uses the Communicator may wait, even while that thread closes the
  // Communicator. Throws Error: kTimeout, kPeerLost, kMismatch or kAborted if the collective
  // failed; kNoMemory; kSystem if a device has failed or the launcher is gone; kClosed if the
  // Communicator was closed meanwhile. The values are then unspecified.
  void wait();

  // Waits as wait() does, but returns false once `timeout` has passed; the collective then goes on.
  bool wait_for(std::chrono::nanoseconds timeout);

  // Returns whether wait() would return or throw immediately.
  bool test();

  // Lets all later work on a stream start when the collective has finished. `stream` is a
  // cudaStream_t of the device with this number; null is CUDA's default stream. The host does not
  // wait. If the collective fails, the stream goes on all the same, with unspecified values, and
  // wait() throws. If data moves only in calls of the program, as over MPI below
  // MPI_THREAD_MULTIPLE, or if streams of the device cannot wait for memory of the host, this
  // function waits as wait() does. Until the collective has finished, free no memory of the device:
  // CUDA would wait for the stream, and rota for CUDA. Throws Error kInvalidArgument if no library
  // for devices is in use, and for a stream that is none of this device or was destroyed;
  // kNoMemory; kSystem if CUDA fails.
  void wait_on(const void* stream, std::uint8_t device = 0);

 private:
  friend class Communicator;
  class ROTA_HIDDEN Source;
  Request(std::shared_ptr<Source> source, std::uint64_t sequence) noexcept;

  std::shared_ptr<Source> source_;
  std::uint64_t sequence_ = 0;
};

// Waits until all `requests` have ended. If some failed, throws what the first of them throws.
ROTA_EXPORT void wait_all(std::span<Request> requests);

}  // namespace rota
