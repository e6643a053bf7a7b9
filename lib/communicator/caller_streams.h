// Finds out what an operation must wait for, because the program has put work on streams that uses
// the operation's buffers.
#pragma once
#include <cstdint>
#include <vector>

#include "communicator/call.h"
#include "device/arrivals.h"

namespace rota {

class CallerStreams {
 public:
  // Notes what is now on the streams of the call's buffers. `number` is the number that its
  // operation will get. Returns null if the buffers have no streams. The result is valid until the
  // operation is done. Throws Error kInvalidArgument for a stream that is none of the device, and
  // kSystem.
  const device::Arrivals* note(const Call& call, std::uint64_t number);

 private:
  std::vector<device::Arrivals> arrivals_;  // Index = slot of the queue. Empty until it is needed.
};

}  // namespace rota
