// What a model on a device needs besides its layers: a stream, products on it, and memory that all
// layers use in turn.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <rota/cuda_calls.h>
#include <rota/device_memory.h>

#include "device/calls.h"
#include "device/stream.h"

namespace rota::nn {

// All work goes on one stream, in order: so layers may share memory. One thread at a time may use a
// DeviceWork.
class DeviceWork {
 public:
  // Throws Error kInvalidArgument if there is no such device, or no library for products; kSystem.
  explicit DeviceWork(std::uint8_t device);
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;
  ~DeviceWork();  // The stream must be idle.

  const cuda::On& on() const noexcept { return stream_.on(); }
  const cuda::Calls& calls() const noexcept { return calls_; }
  const cuda::ModelCalls& models() const noexcept { return calls_.models; }
  // Throws Error kSystem for an error code other than 0.
  void check(int error, std::string_view what) const { device::check(error, on().device, what); }

  void multiply(const cuda::Product& product);
  void record(const device::Event& event) { stream_.record(event); }
  // Waits until the stream is idle. Throws Error kSystem; kTimeout.
  void settle();

  // Make room for working memory, whose contents are lost. If it grows, they wait for the stream.
  void reserve_scratch(std::size_t count) { reserve(scratch_, count); }
  void reserve_sums(std::size_t count) { reserve(sums_, count); }
  float* scratch() const noexcept { return scratch_.as<float>().address(); }
  float* sums() const noexcept { return sums_.as<float>().address(); }

 private:
  void reserve(DeviceBlock& block, std::size_t count);

  const cuda::Calls& calls_;
  device::Stream stream_;
  cuda::Handle products_ = 0;
  DeviceBlock scratch_;  // The windows of images.
  DeviceBlock sums_;     // Of groups of rows.
};

}  // namespace rota::nn
