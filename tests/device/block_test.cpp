// Blocks of devices are zeroed and given back. What a device cannot give is refused.
#include "device/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <rota/device_memory.h>

#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeDevice;

TEST(DeviceBlock, IsZeroedAndGivenBack) {
  FakeDevice fake;
  {
    const DeviceBlock block = allocate_device(1000 * sizeof(float), 1);
    EXPECT_EQ(block.bytes().device(), 1);
    EXPECT_EQ(block.as<float>().size(), 1000U);
    const auto values = fake.read(block.as<float>());
    EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return value == 0; }));
    EXPECT_EQ(fake.open_things(), 1U);
  }
  EXPECT_EQ(fake.open_things(), 0U);
}

TEST(DeviceBlock, HasOneOwner) {
  FakeDevice fake;
  DeviceBlock block = allocate_device(64);
  DeviceBlock other = std::move(block);
  EXPECT_EQ(block.bytes().size(), 0U);  // NOLINT(bugprone-use-after-move): it is empty then.
  other = allocate_device(128);
  EXPECT_EQ(other.bytes().size(), 128U);
  EXPECT_EQ(fake.open_things(), 1U);
}

TEST(DeviceBlock, OfNothingIsEmpty) {
  FakeDevice fake;
  EXPECT_EQ(allocate_device(0).bytes().size(), 0U);
  EXPECT_EQ(allocate_device(0, 1).bytes().device(), 1);
  EXPECT_EQ(fake.open_things(), 0U);
}

TEST(DeviceBlock, ThatDoesNotFitIsRefused) {
  FakeDevice fake({.room = 1000});
  const auto error = error_of([] { allocate_device(1001); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
  EXPECT_STREQ(error->what(), "device 0 has no room for 1001 bytes");
}

TEST(DeviceBlock, OfADeviceThatThereIsNotIsRefused) {
  FakeDevice fake({.device_count = 2});
  const auto error = error_of([] { allocate_device(64, 2); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(), "there is no device 2: this process sees 2");
}

TEST(DeviceCopy, BringsWhatItTook) {
  FakeDevice fake;
  const DeviceBlock block = allocate_device(3 * sizeof(float), 1);
  const std::vector<float> values = {1, 2, 3};
  copy_to_device(block.as<float>(), values);
  std::vector<float> seen(3);
  copy_from_device(seen, block.as<const float>());
  EXPECT_EQ(seen, values);
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceCopy, OfAnotherSizeIsRefused) {
  FakeDevice fake;
  const DeviceBlock block = allocate_device(3 * sizeof(float));
  std::vector<float> four(4);
  for (const auto& error : {error_of([&] { copy_to_device(block.as<float>(), four); }),
                            error_of([&] { copy_from_device(four, block.as<float>()); })}) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error->what()).find("both spans must have the same size"),
              std::string::npos)
        << error->what();
  }
}

TEST(PinnedBlock, IsZeroedAndGivenBack) {
  FakeDevice fake;
  {
    const Block block = device::allocate_pinned(10000);
    EXPECT_TRUE(std::ranges::all_of(block.bytes(), [](std::byte b) { return b == std::byte{}; }));
    EXPECT_EQ(fake.open_things(), 1U);
  }
  EXPECT_EQ(fake.open_things(), 0U);
}

}  // namespace
}  // namespace rota
