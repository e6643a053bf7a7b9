// NCCL's collectives as operations of a communicator, with the plan nccl: their results, what goes
// by rota's plans instead, groups that are split off, and the end of NCCL's communicators.
// Method: the fake NCCL, between threads. It adds rank 0's values first, which no plan of rota
// does.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "nccl/nccl_world.h"
#include "testing/error_of.h"
#include "testing/every_collective.h"

namespace rota {
namespace {

using testing::EveryCollectiveCheck;
using testing::FakeNccl;
using testing::OnDevice;
using NcclCollectives = testing::NcclTest;

float third_of(std::size_t rank, std::size_t i) {
  return 1.0F / static_cast<float>(3 + i + 7 * rank);
}

TEST_F(NcclCollectives, LeaveWhatTheSerialReferenceDoes) {
  FakeNccl nccl;
  for (const std::size_t world_size : {1, 2, 3, 5}) {
    auto comms = world(world_size);
    testing::on_every_rank(comms, [](Communicator& comm) {
      EveryCollectiveCheck<float, OnDevice<float>>(comm).run(16 * comm.world_size());
      EveryCollectiveCheck<double, OnDevice<double>>(comm).run(33);
      EveryCollectiveCheck<std::int32_t, OnDevice<std::int32_t>>(comm).run(1);
    });
  }
  EXPECT_GT(nccl.counts().operations, 0);
  EXPECT_EQ(nccl.counts().crimes, 0);
  EXPECT_EQ(device_.crime(), "");
}

TEST_F(NcclCollectives, WorkOnEveryType) {
  FakeNccl nccl;
  auto comms = world(3);
  testing::on_every_rank(comms, [](Communicator& comm) {
    const auto check = [&]<class T>(T) { EveryCollectiveCheck<T, OnDevice<T>>(comm).run(66); };
    check(Float16());
    check(Bfloat16());
    check(std::int8_t());
    check(std::uint8_t());
    check(std::int64_t());
  });
  EXPECT_EQ(nccl.counts().crimes, 0);
}

// Every version from the oldest on has what rota calls.
TEST_F(NcclCollectives, WorkWithEveryVersion) {
  for (const char* folder : {"2.14", "2.18", "2.28", "2.30"}) {
    SCOPED_TRACE(folder);
    for (const int busy_polls : {0, 5}) {
      FakeNccl nccl(folder, {.busy_polls = busy_polls});
      {
        auto comms = world(2);
        testing::on_every_rank(comms, [](Communicator& comm) {
          EveryCollectiveCheck<float, OnDevice<float>>(comm).run(256);
        });
      }
      EXPECT_EQ(nccl.counts().created, 2);
      EXPECT_EQ(nccl.counts().destroyed, 2);
      EXPECT_EQ(nccl.counts().aborted, 0);
      EXPECT_EQ(nccl.counts().crimes, 0);
    }
  }
}

// docs/reproducibility.md: the bits are those of NCCL, and no default takes them.
TEST_F(NcclCollectives, HaveTheBitsOfNcclWhichNoDefaultHas) {
  FakeNccl nccl;
  const auto sums_of = [&](const std::string& plan) {
    std::vector<float> sums(1009);
    auto comms = world(3, "tcp", std::chrono::seconds(20), plan);
    testing::on_every_rank(comms, [&](Communicator& comm) {
      std::vector<float> values(sums.size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = third_of(comm.rank(), i);
      OnDevice<float>(comm).all_reduce(values, ReduceOp::kSum);
      if (comm.rank() == 0) sums = values;
    });
    return sums;
  };
  const std::vector<float> of_nccl = sums_of("nccl");
  for (std::size_t i = 0; i < of_nccl.size(); ++i) {
    const float expected = third_of(0, i) + third_of(1, i) + third_of(2, i);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(of_nccl[i]), std::bit_cast<std::uint32_t>(expected));
  }
  const int operations = nccl.counts().operations;
  const std::vector<float> of_ring = sums_of("ring");
  EXPECT_EQ(sums_of("auto"), of_ring);
  EXPECT_NE(of_nccl, of_ring);
  EXPECT_EQ(nccl.counts().operations, operations);
}

// A mean is NCCL's sum times 1 / world_size, and not NCCL's own mean.
TEST_F(NcclCollectives, DivideSumsAsRotaDoes) {
  FakeNccl nccl;
  auto comms = world(3);
  testing::on_every_rank(comms, [](Communicator& comm) {
    std::vector<float> values(1009);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = third_of(comm.rank(), i);
    OnDevice<float>(comm).all_reduce(values, ReduceOp::kMean);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float sum = third_of(0, i) + third_of(1, i) + third_of(2, i);
      ASSERT_EQ(values[i], sum * (1.0F / 3.0F)) << i;
    }
  });
}

// NCCL rounds the sum of all ranks to Float16 before rota divides it.
TEST_F(NcclCollectives, KeepAMeanOfFloat16Finite) {
  FakeNccl nccl;
  for (const std::size_t world_size : {2, 3}) {
    auto comms = world(world_size);
    testing::on_every_rank(comms, [](Communicator& comm) {
      OnDevice<Float16> there(comm);
      const std::vector<Float16> all(1009, Float16(60000.0F));
      std::vector<Float16> values = all;
      std::vector<Float16> output(all.size());
      there.all_reduce(values, ReduceOp::kMean);
      there.all_reduce(all, output, ReduceOp::kMean);
      EXPECT_EQ(values, all);
      EXPECT_EQ(output, all);
      std::vector<Float16> first(100, Float16(60000.0F));
      std::vector<Float16> second(200, Float16(-60000.0F));
      there.all_reduce({first, second}, ReduceOp::kMean);
      EXPECT_EQ(first, std::vector<Float16>(100, Float16(60000.0F)));
      EXPECT_EQ(second, std::vector<Float16>(200, Float16(-60000.0F)));
    });
  }
  EXPECT_EQ(nccl.counts().crimes, 0);
}

// Each rank has its own factor. An input is never changed.
TEST_F(NcclCollectives, ScaleBeforeTheyAdd) {
  FakeNccl nccl;
  auto comms = world(3);
  testing::on_every_rank(comms, [](Communicator& comm) {
    const auto reduction = Reduction::pre_scaled_sum(static_cast<double>(comm.rank()));
    OnDevice<float> there(comm);
    std::vector<float> input(12, 2);
    std::vector<float> output(12);
    there.all_reduce(input, output, reduction);
    EXPECT_EQ(output, std::vector<float>(12, 6));
    there.reduce(input, output, 1, reduction);
    EXPECT_EQ(output, std::vector<float>(12, 6));
    std::vector<float> part(4);
    there.reduce_scatter(input, part, reduction);
    EXPECT_EQ(part, std::vector<float>(4, 6));
    EXPECT_EQ(input, std::vector<float>(12, 2));
    std::vector<float> first(100, 1);
    std::vector<float> second(200, 2);
    there.all_reduce({first, second}, reduction);
    EXPECT_EQ(first, std::vector<float>(100, 3));
    EXPECT_EQ(second, std::vector<float>(200, 6));
  });
}

TEST_F(NcclCollectives, MakeOneOperationOfAGroupOfBuffers) {
  FakeNccl nccl;
  auto comms = world(2);
  testing::on_every_rank(comms, [](Communicator& comm) {
    std::vector<float> first(100, 1);
    std::vector<float> second(300, 2);
    OnDevice<float>(comm).all_reduce({first, second}, ReduceOp::kMean);
    EXPECT_EQ(first, std::vector<float>(100, 1));
    EXPECT_EQ(second, std::vector<float>(300, 2));
  });
  EXPECT_EQ(nccl.counts().groups, 2);
  EXPECT_EQ(nccl.counts().operations, 2);
}

// The host can read no buffer, so it cannot pack those that are too small for a list.
TEST_F(NcclCollectives, MakeOneOperationOfSmallBuffers) {
  FakeNccl nccl;
  auto comms = world(2);
  testing::on_every_rank(comms, [](Communicator& comm) {
    std::vector<float> first(1, 1);
    std::vector<float> second(2, 2);
    OnDevice<float>(comm).all_reduce({first, second}, ReduceOp::kSum);
    EXPECT_EQ(first, std::vector<float>(1, 2));
    EXPECT_EQ(second, std::vector<float>(2, 4));
  });
  EXPECT_EQ(nccl.counts().groups, 2);
  EXPECT_EQ(nccl.counts().operations, 2);
}

// These calls have results that NCCL's own functions may not give.
TEST_F(NcclCollectives, LeaveToPlansWhatNcclCannotMake) {
  FakeNccl nccl;
  auto comms = world(2);
  testing::on_every_rank(comms, [](Communicator& comm) {
    const auto expect_plan = [&]<class T>(T value, Reduction reduction) {
      std::vector<T> values(70, value);
      OnDevice<T>(comm).all_reduce(values, reduction);
    };
    expect_plan(1.0F, ReduceOp::kMin);
    expect_plan(1.0, ReduceOp::kMax);
    expect_plan(std::int32_t{1}, ReduceOp::kBitOr);
    expect_plan(1.0F, Reduction(ReduceOp::kSum).by(Codec::kBfloat16));
    std::vector<float> values(71, 1);
    OnDevice<float>(comm).reduce_scatter(values, ReduceOp::kSum);
    comm.barrier();
    comm.all_reduce(values, ReduceOp::kSum);  // In host memory.
    std::vector<float> nothing;
    OnDevice<float>(comm).all_reduce(nothing, ReduceOp::kSum);
  });
  EXPECT_EQ(nccl.counts().operations, 0);
}

// rota promises that a NaN stays.
TEST_F(NcclCollectives, KeepNaNs) {
  FakeNccl nccl;
  auto comms = world(2);
  testing::on_every_rank(comms, [](Communicator& comm) {
    const float own = comm.rank() == 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
    std::vector<float> values(16, own);
    OnDevice<float>(comm).all_reduce(values, ReduceOp::kMax);
    EXPECT_NE(values[3], values[3]);
  });
}

// Operations of NCCL and of plans, on devices and in host memory, are under way together.
TEST_F(NcclCollectives, RunBesidePlans) {
  FakeNccl nccl;
  for (const char* transport : {"tcp", "shm"}) {
    auto comms = world(2, transport);
    testing::on_every_rank(comms, [&](Communicator& comm) {
      const DeviceBlock first = block_of(std::vector<float>(50'000, 1.0F), comm.rank());
      const DeviceBlock second = block_of(std::vector<float>(50'000, 2.0F), comm.rank());
      std::vector<float> here(50'000, 3.0F);
      std::vector<Request> requests;
      for (int i = 0; i < 3; ++i) {
        requests.push_back(comm.all_reduce_async(first.as<float>(), ReduceOp::kSum));
        requests.push_back(comm.all_reduce_async(here, ReduceOp::kSum));
        requests.push_back(comm.all_reduce_async(second.as<float>(), ReduceOp::kSum));
      }
      wait_all(requests);
      EXPECT_EQ(device_.read(first.as<float>()), std::vector<float>(50'000, 8.0F));
      EXPECT_EQ(device_.read(second.as<float>()), std::vector<float>(50'000, 16.0F));
      EXPECT_EQ(here, std::vector<float>(50'000, 24.0F));
    });
  }
  EXPECT_EQ(nccl.counts().crimes, 0);
  EXPECT_EQ(device_.crime(), "");
}

TEST_F(NcclCollectives, ServeGroupsThatAreSplitOff) {
  FakeNccl nccl;
  auto comms = world(4);
  testing::on_every_rank(comms, [](Communicator& comm) {
    Communicator half = comm.split(comm.rank() % 2);
    std::vector<float> values(100, static_cast<float>(comm.rank()));
    OnDevice<float>(half).all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values[99], comm.rank() % 2 == 0 ? 2.0F : 4.0F);
    Communicator alone = comm.split(comm.rank());
    OnDevice<float>(alone).all_reduce(values, ReduceOp::kSum);
  });
  EXPECT_EQ(nccl.counts().created, 4);
  EXPECT_EQ(nccl.counts().destroyed, 4);
}

TEST_F(NcclCollectives, AreRefusedToGroupsOfOtherPlans) {
  FakeNccl nccl;
  auto comms = world(2, "tcp", std::chrono::seconds(20), "ring");
  testing::on_every_rank(comms, [](Communicator& comm) {
    const auto error = testing::error_of([&] { (void)comm.split(0, 0, "nccl"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error->what(),
                 "the plan nccl must be in the options of the communicator that this one is made "
                 "from: take auto");
  });
}

// NCCL's communicator is created by the first call that uses it, and ends with rota's.
TEST_F(NcclCollectives, NeedNoCommunicatorOfNcclBeforeTheFirst) {
  FakeNccl nccl;
  {
    auto comms = world(2);
    testing::on_every_rank(comms, [](Communicator& comm) { comm.barrier(); });
    EXPECT_EQ(nccl.counts().created, 0);
    testing::on_every_rank(comms, [](Communicator& comm) {
      std::vector<float> values(10, 1);
      for (int i = 0; i < 3; ++i) OnDevice<float>(comm).all_reduce(values, ReduceOp::kSum);
    });
    EXPECT_EQ(nccl.counts().created, 2);
    EXPECT_EQ(nccl.counts().destroyed, 0);
  }
  EXPECT_EQ(nccl.counts().destroyed, 2);
  EXPECT_EQ(nccl.counts().aborted, 0);
  EXPECT_EQ(device_.open_things(), 0U);
}

// A communicator that does not flush in 2 s is aborted, and its process goes on.
TEST_F(NcclCollectives, EndWithAnAbortIfNcclDoesNotEndInOrder) {
  FakeNccl nccl("2.18", {.finalize_hangs = true});
  auto comms = world(2);
  testing::on_every_rank(comms, [](Communicator& comm) {
    std::vector<float> values(10, 1);
    OnDevice<float>(comm).all_reduce(values, ReduceOp::kSum);
  });
  const auto begin = std::chrono::steady_clock::now();
  comms.clear();  // One after the other.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(12));
  EXPECT_EQ(nccl.counts().aborted, 2);
  EXPECT_EQ(device_.open_things(), 0U);
}

}  // namespace
}  // namespace rota
