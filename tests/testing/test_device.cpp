// Copies by a stream and pinned memory, as every user of the table does.
#include "testing/test_device.h"

#include <rota/devices.h>

#include <cstdlib>
#include <string_view>
#include <thread>

#include "device/block.h"
#include "device/calls.h"
#include "device/stream.h"

namespace rota::testing {
namespace {

bool wants_gpu() {
  const char* wanted = std::getenv("ROTA_TEST_GPU");
  return wanted && std::string_view(wanted) == "1";
}

}  // namespace

TestDevice::TestDevice() {
  if (wants_gpu()) {
    device_count_ = open_devices();
    calls_ = &device::calls();
    return;
  }
  fake_.emplace();
  calls_ = &FakeDevice::calls();
  device_count_ = 2;
}

void TestDevice::copy(std::uint8_t device, void* to_device, const void* from_device,
                      const void* from_host, void* to_host, std::size_t bytes) {
  if (bytes == 0) return;
  const Block pinned = device::allocate_pinned(bytes);
  std::byte* staged = pinned.bytes().data();
  if (from_host) std::memcpy(staged, from_host, bytes);
  device::Stream stream(device);
  const device::Event event(device);
  void* to = to_device ? to_device : staged;
  const void* from = to_device ? staged : from_device;
  device::check(calls_->copy(stream.on(), to, from, bytes), device, "a copy of a test");
  stream.record(event);
  while (!event.has_happened()) std::this_thread::yield();
  if (to_host) std::memcpy(to_host, staged, bytes);
}

}  // namespace rota::testing
