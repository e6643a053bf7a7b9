// Devices for tests that run on the fake device and on real GPUs alike. By default it is the fake.
// If the environment variable ROTA_TEST_GPU is 1, it is the GPUs that this process sees.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <rota/cuda_calls.h>
#include <rota/device_span.h>

#include "testing/fake_device.h"

namespace rota::testing {

// One object at a time may exist.
class TestDevice {
 public:
  // Throws Error kSystem if the tests are to run on a GPU and there is none.
  TestDevice();

  const cuda::Calls& calls() const { return *calls_; }
  bool is_fake() const { return fake_.has_value(); }
  // Returns the number of a device. Different numbers give different devices if there are several.
  std::uint8_t device(std::size_t number) const {
    return static_cast<std::uint8_t>(number % device_count_);
  }

  // Look at memory of a device. No work may be under way there.
  template <class T>
  void write(DeviceSpan<T> to, const std::vector<T>& values) {
    copy(to.device(), to.address(), nullptr, values.data(), nullptr, values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> read(DeviceSpan<T> from) {
    std::vector<T> values(from.size());
    copy(from.device(), nullptr, from.address(), nullptr, values.data(), values.size() * sizeof(T));
    return values;
  }

  // Returns what work on streams has done wrong. Only the fake knows that.
  std::string crime() const { return fake_ ? fake_->crime() : ""; }

 private:
  // Copies to `to_device` from `from_host`, or to `to_host` from `from_device`.
  void copy(std::uint8_t device, void* to_device, const void* from_device, const void* from_host,
            void* to_host, std::size_t bytes);

  std::optional<FakeDevice> fake_;
  const cuda::Calls* calls_ = nullptr;
  std::size_t device_count_ = 0;
};

}  // namespace rota::testing
