// A failure of a device becomes an Error that names the device, what was done, and the reason.
#include "device/stream.h"

#include <gtest/gtest.h>

#include "device/block.h"
#include "device/calls.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeCall;
using testing::FakeDevice;

TEST(DeviceStream, SaysWhatFailedAndWhere) {
  FakeDevice fake({.has_thread = false});
  fake.fail(FakeCall::kMakeStream);
  const auto error = error_of([] { device::Stream stream(1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_STREQ(error->what(),
               "device 1: the making of a stream failed: invalid argument (CUDA error 1)");
}

// A kernel that faults is seen by the next call, whichever that is.
TEST(DeviceStream, SeesAFaultOfEarlierWork) {
  FakeDevice fake({.has_thread = false});
  const Block host = device::allocate_pinned(64);
  device::Stream stream(0);
  const device::Event event(0);
  device::check(FakeDevice::calls().clear(stream.on(), host.bytes().data(), 64), 0, "a clearing");
  stream.record(event);
  fake.fault();
  fake.work();
  const auto error = error_of([&] { static_cast<void>(event.has_happened()); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "device 0: work on a stream failed: an illegal memory access was encountered (CUDA "
               "error 700)");
}

TEST(DeviceStream, GivesBackWhatItTook) {
  FakeDevice fake({.has_thread = false});
  {
    const device::Stream stream(0);
    const device::Event event(0);
    EXPECT_EQ(fake.open_things(), 2U);
  }
  EXPECT_EQ(fake.open_things(), 0U);
}

TEST(DeviceCalls, OfAnotherVersionAreRefused) {
  cuda::Calls old;
  old.version = cuda::Calls::kVersion + 1;
  const auto error = error_of([&] { cuda::use(old); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(),
               "the library for CUDA has a table of version 2, but this rota needs version 1: "
               "install both from one release of rota");
}

}  // namespace
}  // namespace rota
