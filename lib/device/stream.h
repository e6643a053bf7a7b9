// Owns a stream and events of a device. Work that is put on a stream runs later, in its order.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <rota/cuda_calls.h>

namespace rota::device {

class Event {
 public:
  // Throws Error kSystem.
  explicit Event(std::uint8_t device);
  Event(Event&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, 0)) {}
  Event& operator=(Event&&) = delete;
  ~Event();

  cuda::Handle handle() const noexcept { return handle_; }
  // Returns whether the event has happened since it was recorded. True if it was never recorded.
  // Throws Error kSystem if the device has failed, in whichever operation.
  bool has_happened() const;
  // Sets `happened` to the same. Returns an error code of CUDA.
  int ask(bool& happened) const;

 private:
  std::uint8_t device_;
  cuda::Handle handle_ = 0;
};

// The caller must not destroy a stream with work on it.
class Stream {
 public:
  // Throws Error kSystem.
  explicit Stream(std::uint8_t device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  const cuda::On& on() const noexcept { return on_; }
  // Lets `event` happen when all work that is on the stream now is done. Throws Error kSystem.
  void record(const Event& event);
  // Does the same, but returns an error code of CUDA.
  int try_record(const Event& event) const;
  // Waits until all work that is on the stream now is done. `what`: what the device does, such as
  // "clear 100 bytes". Throws Error kTimeout after 30 s, and kSystem.
  void finish(const std::string& what);

 private:
  cuda::On on_;
};

}  // namespace rota::device
