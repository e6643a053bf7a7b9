// What goes wrong in NCCL ends the call on every rank, with an Error that names the rank, the
// device and the operation. Method: the fake NCCL, between threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "nccl/nccl_world.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using std::chrono::milliseconds;
using testing::error_of;
using testing::FakeCall;
using testing::FakeNccl;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kCount = 1000;

class NcclFailures : public testing::NcclTest {
 protected:
  // Lets each rank call `call` with values on its device. Returns the error of each rank.
  template <class Call>
  std::vector<std::optional<Error>> errors_of(std::vector<Communicator>& comms, Call call) {
    std::vector<std::optional<Error>> errors(comms.size());
    testing::on_every_rank(comms, [&](Communicator& comm) {
      const DeviceBlock block = block_of(std::vector<float>(kCount, 1.0F), comm.rank());
      errors[comm.rank()] = error_of([&] { call(comm, block.as<float>()); });
    });
    return errors;
  }

  static void reduce(Communicator& comm, DeviceSpan<float> values) {
    comm.all_reduce(values, ReduceOp::kSum);
  }
};

std::string text_of(const std::optional<Error>& error) { return error ? error->what() : "none"; }

ErrorCode code_of(const std::optional<Error>& error) {
  return error ? error->code() : ErrorCode::kClosed;
}

TEST_F(NcclFailures, ARankThatStaysAwayIsBlamed) {
  FakeNccl nccl;
  auto comms = world(2, "shm", milliseconds(400));
  const auto errors = errors_of(comms, [](Communicator& comm, DeviceSpan<float> values) {
    if (comm.rank() == 0) return reduce(comm, values);
    std::this_thread::sleep_for(milliseconds(600));
    reduce(comm, values);
  });
  EXPECT_EQ(code_of(errors[0]), ErrorCode::kTimeout);
  EXPECT_EQ(errors[0]->blamed_rank(), 1U);
  EXPECT_THAT(text_of(errors[0]), HasSubstr("rank 0 ("));
  EXPECT_THAT(text_of(errors[0]), HasSubstr("all_reduce #1 of 1000 float32 (sum, nccl) in the "
                                            "memory of device 0: receiving from rank 1 ("));
  EXPECT_THAT(text_of(errors[0]), HasSubstr("timed out after 0.4 s"));
  EXPECT_TRUE(errors[1]);
}

// The same communicator works until the operation that hangs.
TEST_F(NcclFailures, AnOperationThatNeverEndsIsAbortedOnEveryRank) {
  for (const char* folder : {"2.18", "2.30"}) {
    SCOPED_TRACE(folder);
    FakeNccl nccl(folder, {.stuck_at = 2});
    auto comms = world(3, "shm", milliseconds(400));
    EXPECT_EQ(text_of(errors_of(comms, reduce)[2]), "none");
    const auto errors = errors_of(comms, reduce);
    for (const auto& error : errors) {
      ASSERT_TRUE(error);
      EXPECT_THAT(text_of(error), HasSubstr("all_reduce #2"));
      EXPECT_THAT(text_of(error), Not(HasSubstr("may still use")));
    }
    const bool revokes = nccl.calls().revoke != nullptr;
    EXPECT_EQ(nccl.counts().aborted, revokes ? 0 : 3);
    EXPECT_EQ(nccl.counts().revoked, revokes ? 3 : 0);
    EXPECT_EQ(nccl.counts().destroyed, revokes ? 3 : 0);
  }
  EXPECT_EQ(device_.crime(), "");
}

TEST_F(NcclFailures, ACommunicatorThatIsNeverCompleteIsAborted) {
  FakeNccl nccl("2.14");
  auto comms = world(2, "shm", milliseconds(400));
  const DeviceBlock block = block_of(std::vector<float>(kCount), 0);
  const auto error = error_of([&] { reduce(comms[0], block.as<float>()); });
  EXPECT_EQ(code_of(error), ErrorCode::kTimeout);
  EXPECT_EQ(nccl.counts().aborted, 1);
}

TEST_F(NcclFailures, AnErrorThatComesLateIsToldToAll) {
  FakeNccl nccl("2.18", {.fails_on = 1, .fails_at = 2, .fails_with = 1});
  auto comms = world(3, "shm");
  EXPECT_EQ(text_of(errors_of(comms, reduce)[0]), "none");
  const auto errors = errors_of(comms, reduce);
  EXPECT_EQ(code_of(errors[1]), ErrorCode::kSystem);
  EXPECT_THAT(text_of(errors[1]), HasSubstr("rank 1 ("));
  EXPECT_THAT(text_of(errors[1]),
              HasSubstr("all_reduce #2 of 1000 float32 (sum, nccl) in the memory of device 1: "
                        "NCCL's all_reduce failed on device 1: unhandled cuda error: an error that "
                        "comes late (NCCL error 1)"));
  EXPECT_TRUE(errors[0]);
  EXPECT_TRUE(errors[2]);
}

// An error that comes between two operations is found by the next one.
TEST_F(NcclFailures, AnErrorThatComesAfterAnOperationIsTheNextOnes) {
  FakeNccl nccl;
  auto comms = world(2, "shm");
  EXPECT_EQ(text_of(errors_of(comms, reduce)[0]), "none");
  nccl.manner().fails_on = 0;
  nccl.manner().fails_with = 2;
  const auto errors = errors_of(comms, reduce);
  EXPECT_EQ(code_of(errors[0]), ErrorCode::kSystem);
  EXPECT_THAT(text_of(errors[0]), HasSubstr("all_reduce #2"));
}

TEST_F(NcclFailures, ARemoteErrorIsALostPeer) {
  FakeNccl nccl("2.28", {.fails_on = 0, .fails_at = 1, .fails_with = 6});
  auto comms = world(2, "shm");
  const auto errors = errors_of(comms, reduce);
  EXPECT_EQ(code_of(errors[0]), ErrorCode::kPeerLost);
  EXPECT_THAT(text_of(errors[0]), HasSubstr("remote process exited"));
}

// The signatures meet in shared memory before NCCL gets the second call.
TEST_F(NcclFailures, DifferentCallsAreFoundInSharedMemory) {
  FakeNccl nccl;
  auto comms = world(2, "shm");
  const auto errors = errors_of(comms, [](Communicator& comm, DeviceSpan<float> values) {
    reduce(comm, values.first(comm.rank() == 0 ? 1000 : 999));
  });
  for (const auto& error : errors) {
    EXPECT_EQ(code_of(error), ErrorCode::kMismatch);
    EXPECT_THAT(text_of(error), HasSubstr("of 1000 float32 (sum, nccl)"));
    EXPECT_THAT(text_of(error), HasSubstr("of 999 float32 (sum, nccl)"));
  }
}

// NCCL may end such calls, with any values.
TEST_F(NcclFailures, DifferentCallsThatEndAreFoundToo) {
  FakeNccl nccl("2.28", {.swallows_mismatches = true});
  auto comms = world(2, "shm");
  const auto errors = errors_of(comms, [](Communicator& comm, DeviceSpan<float> values) {
    if (comm.rank() == 0) return reduce(comm, values);
    comm.broadcast(values, 0);
  });
  for (const auto& error : errors) EXPECT_EQ(code_of(error), ErrorCode::kMismatch);
}

// One rank's values are in host memory, so its call goes by a plan.
TEST_F(NcclFailures, AnotherKindOfMemoryOnOneRankIsFound) {
  FakeNccl nccl;
  auto comms = world(2, "shm", milliseconds(2000));
  const auto errors = errors_of(comms, [](Communicator& comm, DeviceSpan<float> values) {
    if (comm.rank() == 0) return reduce(comm, values);
    std::vector<float> here(kCount);
    comm.all_reduce(here, ReduceOp::kSum);
  });
  EXPECT_TRUE(errors[0]);
  EXPECT_TRUE(errors[1]);
}

TEST_F(NcclFailures, TwoRanksOnOneDeviceAreRefusedWithAdvice) {
  for (const auto& [folder, advice] :
       {std::pair("2.28",
                  "NCCL 2.28.9 cannot put several ranks on one device: give each rank its "
                  "own, or take plan auto"),
        std::pair("2.30", "several ranks on one device need NCCL_MULTI_RANK_GPU_ENABLE=1")}) {
    SCOPED_TRACE(folder);
    FakeNccl nccl(folder, {.refuses_shared_devices = true});
    auto comms = world(2, "shm");
    std::vector<std::optional<Error>> errors(2);
    testing::on_every_rank(comms, [&](Communicator& comm) {
      const DeviceBlock block = block_of(std::vector<float>(kCount), 3);
      errors[comm.rank()] = error_of([&] { reduce(comm, block.as<float>()); });
    });
    const bool first = code_of(errors[0]) == ErrorCode::kSystem;
    EXPECT_THAT(text_of(errors[first ? 0 : 1]), HasSubstr("Duplicate GPU detected"));
    EXPECT_THAT(text_of(errors[first ? 0 : 1]), HasSubstr(advice));
  }
}

TEST_F(NcclFailures, ACreationThatFailsIsToldToAll) {
  FakeNccl nccl("2.28", {.create_fails_with = 2});
  auto comms = world(2, "shm");
  const auto errors = errors_of(comms, reduce);
  const bool first = code_of(errors[0]) == ErrorCode::kSystem;
  EXPECT_THAT(text_of(errors[first ? 0 : 1]),
              HasSubstr("NCCL's creation of a communicator failed on device "));
  EXPECT_TRUE(errors[0] && errors[1]);
}

TEST_F(NcclFailures, ASecondDeviceOfARankIsRefused) {
  FakeNccl nccl;
  auto comms = world(2, "shm");
  EXPECT_EQ(text_of(errors_of(comms, reduce)[0]), "none");
  std::vector<std::optional<Error>> errors(2);
  testing::on_every_rank(comms, [&](Communicator& comm) {
    const DeviceBlock block = block_of(std::vector<float>(kCount), comm.rank() == 0 ? 5 : 1);
    errors[comm.rank()] = error_of([&] { reduce(comm, block.as<float>()); });
  });
  EXPECT_EQ(code_of(errors[0]), ErrorCode::kInvalidArgument);
  EXPECT_THAT(text_of(errors[0]),
              HasSubstr("this one has device 0, but the values are on device 5"));
  EXPECT_TRUE(errors[1]);
}

// Afterwards the device answers nothing any more, so nobody knows what it still does.
TEST_F(NcclFailures, ADeviceThatFaultsIsNamedAndItsBuffersAreKept) {
  FakeNccl nccl;
  auto comms = world(2, "shm");
  EXPECT_EQ(text_of(errors_of(comms, reduce)[0]), "none");
  std::vector<std::optional<Error>> errors(2);
  const DeviceBlock blocks[] = {block_of(std::vector<float>(kCount), 0),
                                block_of(std::vector<float>(kCount), 1)};
  device_.fault();
  testing::on_every_rank(comms, [&](Communicator& comm) {
    errors[comm.rank()] = error_of([&] { reduce(comm, blocks[comm.rank()].as<float>()); });
  });
  for (const auto& error : errors) {
    EXPECT_THAT(text_of(error), HasSubstr("all_reduce #2"));
    EXPECT_THAT(text_of(error), ::testing::AnyOf(HasSubstr("an illegal memory access"),
                                                 HasSubstr("unhandled cuda error")));
    EXPECT_THAT(text_of(error), HasSubstr("NCCL may still use the buffers of calls that failed"));
  }
}

TEST_F(NcclFailures, AStreamThatTakesNoWorkEndsTheCall) {
  FakeNccl nccl;
  auto comms = world(2, "shm");
  EXPECT_EQ(text_of(errors_of(comms, reduce)[0]), "none");
  const DeviceBlock blocks[] = {block_of(std::vector<float>(kCount), 0),
                                block_of(std::vector<float>(kCount), 1)};
  device_.fail(FakeCall::kRecord);
  std::vector<std::optional<Error>> errors(2);
  testing::on_every_rank(comms, [&](Communicator& comm) {
    errors[comm.rank()] = error_of([&] { reduce(comm, blocks[comm.rank()].as<float>()); });
  });
  EXPECT_TRUE(errors[0] || errors[1]);
}

// A communicator that is closed with a call pending aborts NCCL's.
TEST_F(NcclFailures, APendingCallEndsWithItsCommunicator) {
  FakeNccl nccl("2.18");
  {
    const DeviceBlock block = block_of(std::vector<float>(kCount), 0);
    auto comms = world(2, "shm");
    Request request = comms[0].all_reduce_async(block.as<float>(), ReduceOp::kSum);
    EXPECT_FALSE(request.test());
    comms.clear();
    EXPECT_EQ(code_of(error_of([&] { request.wait(); })), ErrorCode::kClosed);
  }
  EXPECT_EQ(nccl.counts().aborted, 1);
  EXPECT_EQ(device_.crime(), "");
}

TEST_F(NcclFailures, AnAbortReachesRanksThatWaitInNccl) {
  FakeNccl nccl;
  auto comms = world(2, "shm");
  const auto errors = errors_of(comms, [](Communicator& comm, DeviceSpan<float> values) {
    if (comm.rank() == 0) return reduce(comm, values);
    std::this_thread::sleep_for(milliseconds(50));
    comm.abort("the disk is full");
  });
  EXPECT_EQ(code_of(errors[0]), ErrorCode::kAborted);
  EXPECT_THAT(text_of(errors[0]), HasSubstr("the disk is full"));
}

using NcclFailuresDeathTest = NcclFailures;

// NCCL's own threads report that its abort may never return.
TEST_F(NcclFailuresDeathTest, AnAbortThatHangsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        FakeNccl nccl("2.18", {.stuck_at = 1, .abort_hangs = true});
        auto comms = world(2, "shm", milliseconds(300));
        errors_of(comms, reduce);
      },
      ::testing::ExitedWithCode(1),
      "rota: rank [01] \\(.*\\): NCCL did not abort its communicator on device [01] within 1 s: "
      "this process ends, because it would hang");
}

}  // namespace
}  // namespace rota
