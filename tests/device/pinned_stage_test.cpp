// The pinned memory through which values on a device take part in collectives over shared memory is
// one for all operations, and lives as long as an operation uses it.
#include "collectives/shared/pinned_stage.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <rota/device_memory.h>
#include <rota/error.h>

#include "testing/fake_device.h"
#include "transport/shared_memory.h"

namespace rota::collectives {
namespace {

using testing::FakeCall;
using testing::FakeDevice;

constexpr std::size_t kRoom = 1000;  // Bytes of the arena.

// Gives memory of a rank until the bytes in use are as many as the rank has.
class Arena final : public Block::Owner, public std::enable_shared_from_this<Arena> {
 public:
  Block allocate(std::size_t bytes) {
    if (in_use_ + bytes > kRoom) throw Error(ErrorCode::kNoMemory, "the arena is full");
    in_use_ += bytes;
    parts_.push_back(std::make_unique<std::byte[]>(bytes));
    return {{parts_.back().get(), bytes}, shared_from_this()};
  }
  void release(std::span<std::byte> bytes) noexcept override { in_use_ -= bytes.size(); }

  std::size_t in_use() const { return in_use_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> parts_;  // Until the test ends.
  std::size_t in_use_ = 0;
};

class PinnedStageTest : public ::testing::Test {
 protected:
  PinnedStageTest() {
    shared_.allocate = [this](std::size_t bytes) { return arena_->allocate(bytes); };
  }

  FakeDevice fake_;
  DeviceBlock use_ = allocate_device(1);  // Pinned memory takes a device that is in use.
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  transport::SharedMemory shared_;
  Flags flags_{shared_};
  PinnedStage stage_{flags_};
};

TEST_F(PinnedStageTest, IsOneForAllOperations) {
  EXPECT_EQ(stage_.at_hand(10, 1), nullptr);
  std::byte* const first = stage_.memory_for(100, 2, 0);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(stage_.memory_for(90, 3, 0), first);
  EXPECT_EQ(stage_.at_hand(100, 4), first);
  EXPECT_EQ(stage_.at_hand(101, 5), nullptr);
  EXPECT_EQ(fake_.count(FakeCall::kPin), 1U);
}

TEST_F(PinnedStageTest, StaysWhileAnOperationUsesIt) {
  std::byte* const small = stage_.memory_for(100, 1, 0);
  EXPECT_EQ(stage_.at_hand(50, 2), small);
  std::byte* const large = stage_.memory_for(400, 3, 1);  // Operation 2 uses the small one.
  ASSERT_NE(large, nullptr);
  EXPECT_NE(large, small);
  EXPECT_EQ(arena_->in_use(), 500U);
  EXPECT_EQ(stage_.memory_for(50, 4, 1), large);
  EXPECT_EQ(arena_->in_use(), 500U);
  EXPECT_EQ(stage_.memory_for(50, 5, 2), large);
  EXPECT_EQ(arena_->in_use(), 400U);
}

TEST_F(PinnedStageTest, IsGivenBackBeforeItGrows) {
  std::byte* const first = stage_.memory_for(600, 1, 0);
  EXPECT_EQ(stage_.memory_for(700, 2, 0), nullptr) << "there is no room for both";
  EXPECT_EQ(stage_.memory_for(600, 3, 2), first);
  EXPECT_NE(stage_.memory_for(700, 4, 3), nullptr);
  EXPECT_EQ(arena_->in_use(), 700U);
}

TEST_F(PinnedStageTest, IsNotAskedForAgainWhereTheSystemRefusesIt) {
  fake_.fail(FakeCall::kPin);
  EXPECT_EQ(stage_.memory_for(100, 1, 0), nullptr);
  EXPECT_EQ(stage_.memory_for(100, 2, 1), nullptr);
  EXPECT_EQ(fake_.count(FakeCall::kPin), 1U);
  EXPECT_EQ(arena_->in_use(), 0U);
}

}  // namespace
}  // namespace rota::collectives
