// A wait for a device ends when the event has happened, or when the device fails.
#include "device/wait.h"

#include <gtest/gtest.h>

#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::FakeDevice;

TEST(DeviceWait, ReturnsOnceTheEventHasHappened) {
  FakeDevice fake({.has_thread = false});
  device::Stream stream(0);
  const device::Event event(0);
  device::wait_for(event, 0, "nothing");  // Was never recorded.
  stream.record(event);
  EXPECT_FALSE(event.has_happened());
  EXPECT_TRUE(fake.work());
  device::wait_for(event, 0, "a record");
}

TEST(DeviceWait, TellsAFailureOfTheDevice) {
  FakeDevice fake({.has_thread = false});
  device::Stream stream(0);
  const device::Event event(0);
  stream.record(event);
  fake.fault();
  fake.work();
  const auto error = testing::error_of([&] { device::wait_for(event, 0, "a record"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
}

}  // namespace
}  // namespace rota
