// The sums that ./dev gpu measures go the way that their rows name, and wrong sums are found.
// Method: ranks are threads, over the fake device and the fake NCCL.
#include "gpu/sums.h"

#include <gtest/gtest.h>
#include <rota/device_memory.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/counted_nccl.h"
#include "nccl/nccl_world.h"

namespace rota::bench::gpu {
namespace {

using rota::testing::FakeCall;
using rota::testing::FakeNccl;

using Reasons = std::vector<std::string>;

constexpr std::size_t kCount = 10'008;

class MeasuredSums : public rota::testing::NcclTest {
 protected:
  // Returns what each rank says about sums on its device.
  Reasons reasons_of(std::vector<Communicator> comms, Way way, std::size_t count = kCount) {
    Reasons reasons(comms.size());
    rota::testing::on_every_rank(comms, [&](Communicator& comm) {
      const DeviceBlock block = block_of(std::vector<float>(count, 1.0F), comm.rank());
      reasons[comm.rank()] = why_no_figure(comm, block.as<float>(), way);
      EXPECT_EQ(device_.read(block.as<float>()), std::vector<float>(count)) << "no zeros are left";
    });
    EXPECT_EQ(device_.crime(), "");
    return reasons;
  }

  static std::vector<Communicator> world_with(const std::string& plan, std::size_t world_size) {
    return world(world_size, "tcp", std::chrono::seconds(20), plan);
  }
};

// A maximum of floats would go to rota's plans, and its row would not measure NCCL.
TEST_F(MeasuredSums, GoToNccl) {
  for (const std::size_t world_size : {1, 2, 3}) {
    for (const std::size_t count : {std::size_t{1}, kCount}) {
      FakeNccl fake;
      nccl::use(counted(fake.calls()));
      EXPECT_EQ(reasons_of(world_with("nccl", world_size), Way::kByNccl, count),
                Reasons(world_size));
      EXPECT_GT(fake.counts().operations, 0);
      EXPECT_EQ(fake.counts().crimes, 0);
    }
  }
}

TEST_F(MeasuredSums, AreNoSumsOfNcclIfAPlanOfRotaRanThem) {
  FakeNccl fake;
  nccl::use(counted(fake.calls()));
  for (const std::size_t world_size : {1, 2}) {
    EXPECT_EQ(reasons_of(world_with("ring", world_size), Way::kByNccl),
              Reasons(world_size, "NCCL did not run all sums"));
    EXPECT_EQ(reasons_of(world_with("ring", world_size), Way::kAny), Reasons(world_size));
  }
}

const nccl::Calls* right_calls = nullptr;
const nccl::Calls* counting_calls = nullptr;

// Sums all elements by the table that counts, and fewer ones by the other table.
int count_whole_sums(const nccl::Job& job, ReduceOp op) noexcept {
  const nccl::Calls& calls = job.count == kCount ? *counting_calls : *right_calls;
  return calls.all_reduce(job, op);
}

// The world has one rank, because ranks that are threads count together.
TEST_F(MeasuredSums, AreNoSumsOfNcclIfItRanOneOfTwo) {
  FakeNccl fake;
  right_calls = &fake.calls();
  counting_calls = &counted(fake.calls());
  nccl::Calls half = fake.calls();
  half.all_reduce = count_whole_sums;
  nccl::use(half);
  EXPECT_EQ(reasons_of(world_with("nccl", 1), Way::kByNccl),
            Reasons(1, "NCCL did not run all sums"));
  EXPECT_EQ(reasons_of(world_with("nccl", 1), Way::kAny), Reasons(1));
  nccl::use(fake.calls());  // `half` ends here.
}

// Leaves the last element of each rank as it is.
int forget_the_last(const nccl::Job& job, ReduceOp op) noexcept {
  nccl::Job shorter = job;
  --shorter.count;
  return right_calls->all_reduce(shorter, op);
}

TEST_F(MeasuredSums, AreFoundToBeWrong) {
  FakeNccl fake;
  right_calls = &fake.calls();
  nccl::Calls wrong = fake.calls();
  wrong.all_reduce = forget_the_last;
  nccl::use(counted(wrong));
  EXPECT_EQ(reasons_of(world_with("nccl", 3), Way::kByNccl), Reasons(3, "wrong values"));
  EXPECT_EQ(reasons_of(world_with("nccl", 3), Way::kAny), Reasons(3, "wrong values"));
  nccl::use(fake.calls());  // `wrong` ends here.
}

// A container may refuse CUDA IPC. The sums are right then, but the row would name the wrong way.
TEST_F(MeasuredSums, StayOnDevicesUnlessTheirSharingIsRefused) {
  EXPECT_EQ(reasons_of(world(2, "shm", std::chrono::seconds(20), "auto"), Way::kOnDevices),
            Reasons(2));
  for (const FakeCall refused : {FakeCall::kShare, FakeCall::kOpen}) {
    device_.fail(refused);
    EXPECT_EQ(reasons_of(world(2, "shm", std::chrono::seconds(20), "auto"), Way::kOnDevices),
              Reasons(2, "the values went through host memory"));
  }
}

}  // namespace
}  // namespace rota::bench::gpu
