// Does one piece of work at a time on a stream of its own, and knows when it has ended.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "device/stream.h"

namespace rota::device {

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Waits a while for work that is under way. If it does not end, keeps its stream for ever.
  ~Worker();

  // Takes the stream of this device for the next work. Throws Error kSystem.
  void use(std::uint8_t device);

  // Calls `put`, which puts work on the stream that it gets. Requires use(). Throws what `put`
  // throws, and Error kSystem.
  template <class Put>
  void begin(Put put) {
    begins_ = true;
    put(current_->stream);
    current_->stream.record(current_->ended);
    begins_ = false;
  }
  // Returns whether the latest work has ended. Requires begin(). Throws Error kSystem.
  bool has_ended() const { return current_->ended.has_happened(); }
  // Returns whether no work is under way. Waits a while for work that is.
  bool is_idle() const noexcept;

  // Keeps the streams for ever, because a stream with work must not be destroyed.
  void abandon() noexcept;

 private:
  struct OfDevice {
    explicit OfDevice(std::uint8_t number) : stream(number), ended(number) {}
    Stream stream;
    Event ended;
  };

  std::vector<std::unique_ptr<OfDevice>> devices_;  // Index = number of the device.
  OfDevice* current_ = nullptr;                     // Of the latest use().
  bool begins_ = false;  // Something may be on the stream, and its event is not recorded.
};

}  // namespace rota::device
