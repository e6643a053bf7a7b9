// Memory of rota that NCCL's collectives use is registered with NCCL, if the program asks for that,
// and never freed while it is registered. Method: the fake NCCL, between threads. It counts as a
// crime if a buffer was freed before it was deregistered, if a communicator ends with registered
// memory, and if buffers are registered on some ranks only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nccl/nccl_world.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeNccl;
using ::testing::HasSubstr;

constexpr std::size_t kRegisteredCount = 1000;

std::vector<Communicator> registering_world(
    std::size_t world_size, std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  CommunicatorOptions options;
  options.plan = "nccl";
  options.deadline = deadline;
  options.registers_buffers = true;
  return testing::tcp_world_of(world_size, options);
}

class RegisteredBuffers : public testing::NcclTest {
 protected:
  // A block of each rank, on the device with the rank's number.
  std::vector<DeviceBlock> blocks_of_two() {
    std::vector<DeviceBlock> blocks;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      blocks.push_back(block_of(std::vector<float>(kRegisteredCount, 1.0F), rank));
    }
    return blocks;
  }

  static void add_up(std::vector<Communicator>& comms, const std::vector<DeviceBlock>& blocks) {
    testing::on_every_rank(comms, [&](Communicator& comm) {
      comm.all_reduce(blocks[comm.rank()].as<float>(), ReduceOp::kSum);
    });
  }

  void TearDown() override { EXPECT_EQ(device_.crime(), ""); }
};

TEST_F(RegisteredBuffers, AreRegisteredOnceForEachCommunicator) {
  for (const char* folder : {"2.19", "2.28"}) {
    SCOPED_TRACE(folder);
    FakeNccl nccl(folder);
    {
      auto comms = registering_world(2);
      const auto blocks = blocks_of_two();
      for (int i = 0; i < 3; ++i) add_up(comms, blocks);
      testing::on_every_rank(comms, [&](Communicator& comm) {
        const auto values = blocks[comm.rank()].as<float>();
        comm.all_reduce(values.subspan(500), ReduceOp::kSum);  // A part of the same memory.
        Communicator other = comm.split(0);
        other.all_reduce(values, ReduceOp::kSum);
        EXPECT_EQ(device_.read(values)[0], 16.0F);
        EXPECT_EQ(device_.read(values)[999], 32.0F);
      });
    }
    EXPECT_EQ(nccl.counts().registered, 4);
    EXPECT_EQ(nccl.counts().deregistered, 4);
    EXPECT_EQ(nccl.counts().zero_copy, 10);
    EXPECT_EQ(nccl.counts().crimes, 0);
  }
}

// The input, the output and the parts of a group; and what rota allocates for a scaled input.
TEST_F(RegisteredBuffers, AreAllBuffersOfACall) {
  FakeNccl nccl;
  {
    auto comms = registering_world(2);
    const auto inputs = blocks_of_two();
    const auto outputs = blocks_of_two();
    testing::on_every_rank(comms, [&](Communicator& comm) {
      const auto input = inputs[comm.rank()].as<float>();
      const auto output = outputs[comm.rank()].as<float>();
      comm.all_reduce(input, output, ReduceOp::kSum);
      comm.all_reduce(input, output, Reduction::pre_scaled_sum(0.5));
      EXPECT_EQ(device_.read(output), std::vector<float>(kRegisteredCount, 1.0F));
      const std::vector<Values> group{input, output};
      comm.all_reduce(group, ReduceOp::kSum);
      comm.all_to_all(input);
      comm.gather(input.first(500), output, 1);
      comm.broadcast(output, 0);
    });
  }
  EXPECT_EQ(nccl.counts().registered, 6);
  EXPECT_EQ(nccl.counts().operations, 12);
  EXPECT_EQ(nccl.counts().zero_copy, 12);
  EXPECT_EQ(nccl.counts().crimes, 0);
}

// The device gives new memory the addresses of freed memory.
TEST(RegisteredMemory, IsFreedAfterTheNextCall) {
  testing::FakeDevice device({.device_count = 2, .reuses_addresses = true});
  FakeNccl nccl;
  auto comms = registering_world(2);
  testing::on_every_rank(comms, [&](Communicator& comm) {
    const auto add_up = [&](const DeviceBlock& block) {
      device.write(block.as<float>(), std::vector<float>(kRegisteredCount, 2.0F));
      comm.all_reduce(block.as<float>(), ReduceOp::kSum);
      EXPECT_EQ(device.read(block.as<float>()), std::vector<float>(kRegisteredCount, 4.0F));
    };
    const auto allocate = [&] {
      return allocate_device(kRegisteredCount * sizeof(float),
                             static_cast<std::uint8_t>(comm.rank()));
    };
    std::optional<DeviceBlock> block(allocate());
    const float* const first = block->as<float>().address();
    add_up(*block);
    block.reset();
    EXPECT_NE(testing::FakeDevice::number_at(first), 0U);
    block.emplace(allocate());
    EXPECT_NE(block->as<float>().address(), first);
    comm.barrier();  // An allocation of the other rank would give back what this one has kept.
    add_up(*block);
    EXPECT_NE(testing::FakeDevice::number_at(first), 0U);  // A driving thread frees nothing.
    // An allocation gives back what both ranks have kept. If the other rank allocates meanwhile, it
    // may come before its own memory is free.
    comm.barrier();
    if (comm.rank() == 1) comm.barrier();
    const DeviceBlock again = allocate();
    if (comm.rank() == 0) comm.barrier();
    EXPECT_EQ(again.as<float>().address(), first);
    add_up(again);
  });
  comms.clear();
  EXPECT_EQ(nccl.counts().registered, 6);
  EXPECT_EQ(nccl.counts().deregistered, 6);
  EXPECT_EQ(nccl.counts().crimes, 0);
  EXPECT_EQ(device.crime(), "");
  EXPECT_EQ(device.open_things(), 0U);
}

TEST_F(RegisteredBuffers, AreFreedWhenTheirCommunicatorEnds) {
  FakeNccl nccl;
  {
    auto comms = registering_world(2);
    add_up(comms, blocks_of_two());
    EXPECT_GT(device_.open_things(), 0U);
  }
  EXPECT_EQ(nccl.counts().crimes, 0);
  EXPECT_EQ(nccl.counts().deregistered, 2);
  EXPECT_EQ(device_.open_things(), 0U);
}

// NCCL wants all ranks to register the buffers of a call, or none. Only rank 1 needs scratch.
TEST_F(RegisteredBuffers, OfTheProgramsOwnMemoryAreNotRegistered) {
  FakeNccl nccl;
  const cuda::Calls& calls = testing::FakeDevice::calls();
  constexpr std::size_t kBytes = kRegisteredCount * sizeof(float);
  auto comms = registering_world(2);
  testing::on_every_rank(comms, [&](Communicator& comm) {
    const auto device = static_cast<std::uint8_t>(comm.rank());
    void* address = nullptr;
    ASSERT_EQ(calls.allocate(device, kBytes, address), 0);
    const DeviceSpan<float> values(static_cast<float*>(address), kRegisteredCount, device);
    device_.write(values, std::vector<float>(kRegisteredCount, 2.0F));
    comm.all_reduce(values, Reduction::pre_scaled_sum(comm.rank() == 0 ? 1 : 0.5));
    EXPECT_EQ(device_.read(values), std::vector<float>(kRegisteredCount, 3.0F));
    EXPECT_EQ(calls.free(device, address), 0);
  });
  EXPECT_EQ(nccl.counts().registered, 0);
  EXPECT_EQ(nccl.counts().operations, 2);
}

// After a failure, NCCL is revoked or aborted.
TEST_F(RegisteredBuffers, AreFreedAfterAFailure) {
  for (const char* folder : {"2.19", "2.28"}) {
    SCOPED_TRACE(folder);
    FakeNccl nccl(folder, {.stuck_at = 2});
    {
      auto comms = registering_world(2, std::chrono::milliseconds(300));
      add_up(comms, blocks_of_two());
      const auto blocks = blocks_of_two();
      testing::on_every_rank(comms, [&](Communicator& comm) {
        EXPECT_TRUE(
            error_of([&] { comm.all_reduce(blocks[comm.rank()].as<float>(), ReduceOp::kSum); }));
      });
    }
    EXPECT_EQ(nccl.counts().registered, 4);
    EXPECT_EQ(nccl.counts().crimes, 0);
    EXPECT_EQ(device_.open_things(), 0U);
  }
}

TEST_F(RegisteredBuffers, NeedANewerNccl) {
  for (const char* folder : {"2.14", "2.18"}) {
    FakeNccl nccl(folder);
    auto comms = registering_world(2);
    const auto blocks = blocks_of_two();
    add_up(comms, blocks);
    EXPECT_EQ(device_.read(blocks[0].as<float>())[0], 2.0F);
    EXPECT_EQ(nccl.counts().zero_copy, 0);
  }
}

TEST_F(RegisteredBuffers, AreNotWithoutTheOption) {
  FakeNccl nccl;
  auto comms = world(2);
  add_up(comms, blocks_of_two());
  EXPECT_EQ(nccl.counts().registered, 0);
}

// NCCL may have no use for memory, and says so without an error.
TEST_F(RegisteredBuffers, AreDeclinedOnce) {
  FakeNccl nccl("2.28", {.declines_memory = true});
  {
    auto comms = registering_world(2);
    const auto blocks = blocks_of_two();
    for (int i = 0; i < 3; ++i) add_up(comms, blocks);
    EXPECT_EQ(device_.read(blocks[1].as<float>())[0], 8.0F);
  }
  EXPECT_EQ(nccl.counts().registered, 2);
  EXPECT_EQ(nccl.counts().zero_copy, 0);
  EXPECT_EQ(nccl.counts().crimes, 0);
}

// Other ranks may have registered their buffers, and NCCL must not get some of both.
TEST_F(RegisteredBuffers, AreAnErrorIfNcclFails) {
  FakeNccl nccl("2.28", {.register_fails_with = 1});
  auto comms = registering_world(2);
  const auto blocks = blocks_of_two();
  std::vector<std::optional<Error>> errors(2);
  testing::on_every_rank(comms, [&](Communicator& comm) {
    errors[comm.rank()] =
        error_of([&] { comm.all_reduce(blocks[comm.rank()].as<float>(), ReduceOp::kSum); });
  });
  ASSERT_TRUE(errors[0] && errors[1]);
  for (const auto& error : errors) {
    EXPECT_THAT(error->what(), HasSubstr("NCCL's registration of memory for all_reduce failed on "
                                         "device "));
  }
}

// rota does not learn when a program frees memory of its own.
TEST_F(RegisteredBuffers, AreNotMemoryOfTheProgram) {
  FakeNccl nccl;
  {
    auto comms = registering_world(2);
    testing::on_every_rank(comms, [&](Communicator& comm) {
      const cuda::Calls& calls = testing::FakeDevice::calls();
      const auto device = static_cast<std::uint8_t>(comm.rank());
      void* address = nullptr;
      ASSERT_EQ(calls.allocate(device, kRegisteredCount * sizeof(float), address), 0);
      const DeviceSpan<float> values(static_cast<float*>(address), kRegisteredCount, device);
      device_.write(values, std::vector<float>(kRegisteredCount, 1.0F));
      comm.all_reduce(values, ReduceOp::kSum);
      EXPECT_EQ(device_.read(values)[0], 2.0F);
      EXPECT_EQ(calls.free(device, address), 0);
    });
  }
  EXPECT_EQ(nccl.counts().registered, 0);
  EXPECT_EQ(nccl.counts().crimes, 0);
}

// The next three are about the fake: it notices what rota must not do.
class FakeRegistration : public testing::NcclTest {
 protected:
  FakeRegistration() {
    EXPECT_EQ(calls().make_id(id_), 0);
    EXPECT_EQ(calls().create(id_, 0, 1, comm_), nccl::kInProgress);
    settle();
    EXPECT_EQ(testing::FakeDevice::calls().make_stream(0, stream_), 0);
  }
  ~FakeRegistration() override {
    settle();
    EXPECT_EQ(testing::FakeDevice::calls().destroy_stream({.device = 0, .stream = stream_}), 0);
  }

  const nccl::Calls& calls() const { return nccl_.calls(); }
  void settle() {
    int state = nccl::kInProgress;
    while (state == nccl::kInProgress) {
      if (calls().get_state(comm_, state) != 0) return;
    }
  }
  nccl::Handle registered(const DeviceBlock& block) {
    nccl::Handle handle = 0;
    EXPECT_EQ(calls().register_memory(comm_, block.bytes().address(), block.bytes().size(), handle),
              0);
    return handle;
  }

  FakeNccl nccl_{"2.28", {.busy_polls = 0}};
  nccl::Id id_{};
  nccl::Handle comm_ = 0;
  cuda::Handle stream_ = 0;
};

TEST_F(FakeRegistration, NoticesABufferThatWasFreed) {
  std::optional<DeviceBlock> block(block_of(std::vector<float>(10), 0));
  std::byte* const address = block->bytes().address();
  const nccl::Handle handle = registered(*block);
  block.reset();
  EXPECT_EQ(calls().all_reduce({.comm = comm_,
                                .stream = stream_,
                                .input = address,
                                .output = address,
                                .count = 10,
                                .type = DataType::kFloat32},
                               ReduceOp::kSum),
            nccl::kInvalidUsage);
  EXPECT_EQ(nccl_.counts().crimes, 1);
  EXPECT_EQ(calls().deregister_memory(comm_, handle), nccl::kInvalidUsage);
  EXPECT_EQ(nccl_.counts().crimes, 2);
  calls().destroy(comm_);
}

TEST_F(FakeRegistration, NoticesMemoryThatIsLeftRegistered) {
  const DeviceBlock block = block_of(std::vector<float>(10), 0);
  registered(block);
  calls().destroy(comm_);
  EXPECT_EQ(nccl_.counts().crimes, 1);
}

// One rank's memory is the program's own.
TEST_F(RegisteredBuffers, MustBeSoOnAllRanks) {
  FakeNccl nccl;
  auto comms = registering_world(2);
  const auto blocks = blocks_of_two();
  void* address = nullptr;
  ASSERT_EQ(testing::FakeDevice::calls().allocate(1, kRegisteredCount * sizeof(float), address), 0);
  const DeviceSpan<float> own(static_cast<float*>(address), kRegisteredCount, 1);
  device_.write(own, std::vector<float>(kRegisteredCount, 1.0F));
  testing::on_every_rank(comms, [&](Communicator& comm) {
    comm.all_reduce(comm.rank() == 0 ? blocks[0].as<float>() : own, ReduceOp::kSum);
  });
  EXPECT_GT(nccl.counts().crimes, 0);
}

}  // namespace
}  // namespace rota
