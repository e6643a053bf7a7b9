// A stream that a test makes as a program would, and that stands still when the test says so.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <rota/device_span.h>

#include "device/block.h"
#include "device/stream.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota::testing {

class OwnStream {
 public:
  explicit OwnStream(std::uint8_t device = 0)
      : stream_(device), gate_(device::allocate_pinned(sizeof(std::uint64_t))) {}
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    open();
    // A device that has faulted does not tell: then the test has failed, or has expected that.
    error_of([&] { EXPECT_TRUE(becomes_idle()); });
  }

  // Returns the cudaStream_t.
  const void* get() const {
    return reinterpret_cast<const void*>(stream_.on().stream);  // NOLINT(performance-no-int-to-ptr)
  }

  // Work that is put on the stream after shut() waits for open().
  void shut() { ASSERT_EQ(FakeDevice::calls().wait_for_word(stream_.on(), gate(), ++shut_), 0); }
  void open() { std::atomic_ref(*gate()).store(shut_); }

  template <class T>
  void read(const Block& to, DeviceSpan<T> from) {
    copy(to.bytes().data(), from.address(), from.size() * sizeof(T));
  }
  template <class T>
  void write(DeviceSpan<T> to, const Block& from) {
    copy(to.address(), from.bytes().data(), to.size() * sizeof(T));
  }

  bool is_idle() {
    const device::Event event(stream_.on().device);
    stream_.record(event);
    return event.has_happened();
  }
  // Returns false if the stream still has work after a long time.
  bool becomes_idle() {
    const device::Event event(stream_.on().device);
    stream_.record(event);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!event.has_happened()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

 private:
  std::uint64_t* gate() const { return reinterpret_cast<std::uint64_t*>(gate_.bytes().data()); }
  void copy(void* to, const void* from, std::size_t bytes) {
    ASSERT_EQ(FakeDevice::calls().copy(stream_.on(), to, from, bytes), 0);
  }

  device::Stream stream_;
  Block gate_;
  std::uint64_t shut_ = 0;
};

// Returns pinned memory that is full of one value.
inline Block pinned(std::size_t count, float value) {
  Block block = device::allocate_pinned(count * sizeof(float));
  auto* values = reinterpret_cast<float*>(block.bytes().data());
  for (std::size_t i = 0; i < count; ++i) values[i] = value;
  return block;
}

inline std::vector<float> floats_of(const Block& block) {
  const auto* values = reinterpret_cast<const float*>(block.bytes().data());
  return {values, values + block.bytes().size() / sizeof(float)};
}

}  // namespace rota::testing
