// Lets rota's streams wait for work that the program has put on streams of its own.
#pragma once
#include <cstddef>
#include <vector>

#include <rota/cuda_calls.h>

#include "device/stream.h"

namespace rota::device {

// The moments at which work of the program's streams is done. Keeps its events for later use.
class Arrivals {
 public:
  // Forgets all moments.
  void clear() noexcept { noted_.clear(); }

  // Notes the moment at which all work is done that is on the stream now. Does nothing if a moment
  // of this stream is noted. Returns an error code of CUDA.
  int note(const cuda::On& on);

  // Lets `stream` wait for all moments. Throws Error kSystem.
  void hold(const Stream& stream) const;

  bool empty() const noexcept { return noted_.empty(); }

 private:
  struct Moment {
    cuda::Handle stream;
    std::size_t event;  // Index in events_.
  };
  struct OfDevice {
    std::uint8_t device;
    Event event;
  };
  std::size_t unused_event(std::uint8_t device);

  std::vector<Moment> noted_;
  std::vector<OfDevice> events_;
};

}  // namespace rota::device
