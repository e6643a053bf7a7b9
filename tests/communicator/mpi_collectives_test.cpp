// MPI's own collectives as operations of a communicator, with the plan mpi: their results, what
// goes by rota's plans instead, their order, and how they fail.
// Method: a fake MPI between threads. It adds rank 0's values first, which no plan of rota does.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/error.h>
#include <rota/mpi_calls.h>

#include "communicator/thread_world.h"
#include "testing/error_of.h"
#include "testing/every_collective.h"
#include "testing/fake_mpi.h"
#include "testing/mpi_world.h"

namespace rota {
namespace {

using testing::EveryCollectiveCheck;
using testing::FakeMpi;

CommunicatorOptions options_for(const std::string& plan) {
  CommunicatorOptions options;
  options.plan = plan;
  options.deadline = std::chrono::seconds(20);
  return options;
}

// Counts the collectives of MPI that ranks begin.
std::atomic<int> begun{0};

// What this thread's rank has given to MPI last.
thread_local const void* last_input = nullptr;
thread_local const void* last_values = nullptr;

const mpi::Calls& watched_calls() {
  static const mpi::Calls kCalls = [] {
    mpi::Calls watched = FakeMpi::calls();
    watched.all_reduce = [](const void* input, void* values, int count, DataType type, ReduceOp op,
                            mpi::Handle comm, mpi::Handle& request) noexcept {
      ++begun;
      last_input = input;
      last_values = values;
      return FakeMpi::calls().all_reduce(input, values, count, type, op, comm, request);
    };
    watched.reduce = [](const void* input, void* values, int count, DataType type, ReduceOp op,
                        int root, mpi::Handle comm, mpi::Handle& request) noexcept {
      last_input = input;
      return FakeMpi::calls().reduce(input, values, count, type, op, root, comm, request);
    };
    return watched;
  }();
  return kCalls;
}

template <class Body>
void run_mpi_plan(std::size_t world_size, Body body, const std::string& plan = "mpi") {
  FakeMpi fake(world_size, world_size);
  testing::on_mpi_threads(world_size, [&](std::size_t rank) {
    Communicator comm = mpi::communicator_over(watched_calls(), fake.comm(rank), options_for(plan));
    body(comm);
  });
  EXPECT_EQ(fake.open_requests(), 0U);
}

TEST(MpiCollectives, LeaveWhatTheSerialReferenceDoes) {
  for (const std::size_t world_size : {1, 2, 3, 5}) {
    run_mpi_plan(world_size, [](Communicator& comm) {
      EveryCollectiveCheck<float>(comm).run(16 * comm.world_size());
      EveryCollectiveCheck<double, testing::AsRequests>(comm).run(33);
      EveryCollectiveCheck<std::int32_t>(comm).run(33);
      EveryCollectiveCheck<std::int64_t>(comm).run(1);
    });
  }
}

// These calls have results that MPI's own functions may not give.
TEST(MpiCollectives, LeaveToPlansWhatMpiCannotMake) {
  begun = 0;
  run_mpi_plan(2, [](Communicator& comm) {
    const auto expect_plan = [&](auto value, Reduction reduction) {
      std::vector<decltype(value)> values(70, value);
      comm.all_reduce(values, reduction);
    };
    expect_plan(Float16(1.0F), ReduceOp::kSum);
    expect_plan(Bfloat16(1.0F), ReduceOp::kSum);
    expect_plan(1.0F, ReduceOp::kMin);
    expect_plan(1.0, ReduceOp::kMax);
    expect_plan(std::int8_t{1}, ReduceOp::kSum);
    expect_plan(std::uint8_t{1}, ReduceOp::kSum);
    expect_plan(1.0F, Reduction(ReduceOp::kSum).by(Codec::kBfloat16));
  });
  EXPECT_EQ(begun, 0);
  run_mpi_plan(2, [](Communicator& comm) {
    std::vector<std::int8_t> values(70, 1);
    comm.all_reduce(values, ReduceOp::kMax);
    std::vector<float> floats(70, 1);
    comm.all_reduce(floats, ReduceOp::kMean);
  });
  EXPECT_EQ(begun, 4);
}

float third_of(std::size_t rank, std::size_t i) {
  return 1.0F / static_cast<float>(3 + i + 7 * rank);
}

std::vector<float> sums_of_thirds(Communicator& comm) {
  std::vector<float> values(1009);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = third_of(comm.rank(), i);
  comm.all_reduce(values, ReduceOp::kSum);
  return values;
}

// docs/reproducibility.md: the bits are those of the MPI library, and no default takes them.
TEST(MpiCollectives, HaveTheBitsOfMpiWhichNoDefaultHas) {
  run_mpi_plan(3, [](Communicator& comm) {
    const std::vector<float> sums = sums_of_thirds(comm);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const float expected = third_of(0, i) + third_of(1, i) + third_of(2, i);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(sums[i]), std::bit_cast<std::uint32_t>(expected)) << i;
    }
  });
  std::vector<float> of_ring;
  begun = 0;
  for (const char* plan : {"ring", "auto"}) {
    run_mpi_plan(
        3,
        [&](Communicator& comm) {
          const std::vector<float> sums = sums_of_thirds(comm);
          if (comm.rank() != 0) return;
          if (of_ring.empty()) of_ring = sums;
          EXPECT_EQ(sums, of_ring) << "the default has other bits than the ring";
        },
        plan);
  }
  EXPECT_EQ(begun, 0);
}

// Each rank has its own factor, and the root divides.
TEST(MpiCollectives, ScaleBeforeAndAfter) {
  run_mpi_plan(3, [](Communicator& comm) {
    const auto factor = static_cast<double>(comm.rank());
    std::vector<float> input(10, 2);
    std::vector<float> output(10);
    comm.all_reduce(input, output, Reduction::pre_scaled_sum(factor));
    EXPECT_EQ(output[9], 6);
    EXPECT_EQ(input[9], 2);
    comm.all_reduce(output, Reduction::pre_scaled_sum(factor));
    EXPECT_EQ(output[9], 18);
    comm.reduce(input, output, 1, Reduction::pre_scaled_sum(factor));
    EXPECT_EQ(output[9], comm.rank() == 1 ? 6 : 18);
    comm.reduce(input, 2, ReduceOp::kMean);
    EXPECT_TRUE(comm.rank() != 2 || input[9] == 2);
  });
}

// Method: the fake MPI never ends an all-reduce or an all-gather that only some ranks do in place.
// Open MPI chooses its algorithm by that, and then hangs or adds up wrong values.
TEST(MpiCollectives, AgreeWhereOnlySomeRanksHaveAnInputOfTheirOwn) {
  run_mpi_plan(3, [](Communicator& comm) {
    const bool has_input = comm.rank() == 1;
    const std::vector<float> input(10, 2);
    std::vector<float> values(10, has_input ? 7 : 2);
    const auto sum = [&](const Reduction& reduction) {
      has_input ? comm.all_reduce(input, values, reduction) : comm.all_reduce(values, reduction);
    };
    sum(ReduceOp::kSum);
    EXPECT_EQ(values, std::vector<float>(10, 6));
    sum(Reduction::pre_scaled_sum(static_cast<double>(comm.rank())));
    EXPECT_EQ(values, std::vector<float>(10, 14));
    for (const std::size_t root : {0, 1}) {
      values.assign(10, 2);
      has_input ? comm.reduce(input, values, root, ReduceOp::kSum)
                : comm.reduce(values, root, ReduceOp::kSum);
      EXPECT_TRUE(comm.rank() != root || values == std::vector<float>(10, 6));
    }
    std::vector<float> all(6, static_cast<float>(comm.rank()));
    const std::span<float> place = std::span(all).subspan(2 * comm.rank(), 2);
    const std::vector<float> part(2, 1);
    comm.all_gather(has_input ? std::span<const float>(part) : place, all);
    EXPECT_EQ(all, (std::vector<float>{0, 0, 1, 1, 2, 2}));
  });
}

// Ranks may begin the calls in another order in time, but MPI sees one order.
TEST(MpiCollectives, KeepTheirOrderBesidePlans) {
  run_mpi_plan(3, [](Communicator& comm) {
    std::vector<std::vector<float>> values(20, std::vector<float>(64, 1));
    std::vector<std::vector<std::int8_t>> bytes(20, std::vector<std::int8_t>(64, 1));
    std::vector<Request> requests;
    for (std::size_t i = 0; i < values.size(); ++i) {
      requests.push_back(comm.all_reduce_async(values[i], ReduceOp::kSum));
      requests.push_back(comm.all_reduce_async(bytes[i], ReduceOp::kSum));
    }
    wait_all(requests);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i][63], 3);
      EXPECT_EQ(bytes[i][63], 3);
    }
  });
}

// MPI compares nothing. The ranks tell the coordinator what they wait for.
TEST(MpiCollectives, SayWhichCallsDiffer) {
  FakeMpi fake(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm =
        mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_for("mpi"));
    std::vector<float> values(rank == 0 ? 10 : 11);
    const auto error = testing::error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kMismatch) << error->what();
    const std::string text = error->what();
    EXPECT_NE(text.find("all_reduce #1 of 10 float32 (sum, mpi)"), std::string::npos) << text;
    EXPECT_NE(text.find("all_reduce #1 of 11 float32 (sum, mpi)"), std::string::npos) << text;
    EXPECT_NE(text.find("MPI may still use the buffers"), std::string::npos) << text;
  });
}

TEST(MpiCollectives, EndAtTheirDeadline) {
  FakeMpi fake(3);
  std::barrier all(3);
  testing::on_mpi_threads(3, [&](std::size_t rank) {
    CommunicatorOptions options = options_for("mpi");
    options.deadline = std::chrono::milliseconds(300);
    Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options);
    std::vector<float> values(10);
    if (rank != 1) {
      const auto error = testing::error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->blamed_rank(), std::size_t{1}) << error->what();
    }
    all.arrive_and_wait();
  });
}

// MPI cannot cancel a collective, so it may use a rank's scaled values, or a packed group, after
// the communicator has gone. Method: the rank makes many blocks of the same size, one of which
// would be where a freed block was.
TEST(MpiCollectives, LeaveTheirOwnBuffersToMpi) {
  constexpr std::size_t kCount = 10'000;
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    for (const bool is_packed : {false, true}) {
      std::vector<float> values(kCount, 2);
      std::vector<float> more(kCount, 2);
      {
        CommunicatorOptions options = options_for("mpi");
        options.deadline = std::chrono::milliseconds(500);
        Communicator comm = mpi::communicator_over(watched_calls(), fake.comm(rank), options);
        comm.barrier();
        all.arrive_and_wait();
        fake.hold();
        const auto error = testing::error_of([&] {
          if (!is_packed) return comm.reduce(values, 0, Reduction::pre_scaled_sum(3));
          comm.all_reduce({Values(values), Values(more)}, ReduceOp::kSum);
        });
        ASSERT_TRUE(error);
        all.arrive_and_wait();
      }
      const void* kept = is_packed ? last_values : last_input;
      const std::vector<std::vector<float>> others(
          50, std::vector<float>(kCount * (is_packed ? 2 : 1)));
      const auto* still = static_cast<const float*>(kept);
      EXPECT_EQ(still[0], is_packed ? 2 : 6);
      EXPECT_EQ(still[kCount - 1], is_packed ? 2 : 6);
      all.arrive_and_wait();
      fake.release();
    }
  });
}

TEST(MpiCollectives, SayThatMpiHasFailed) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm =
        mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_for("mpi"));
    all.arrive_and_wait();
    fake.fail();
    const auto error = testing::error_of([&] { comm.barrier(); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("a collective of MPI failed: fake error 1"),
              std::string::npos)
        << error->what();
  });
}

// A real MPI ends the program at a call after MPI_Finalize.
TEST(MpiCollectives, AreClosedAfterMpi) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm =
        mpi::communicator_over(watched_calls(), fake.comm(rank), options_for("mpi"));
    comm.barrier();
    all.arrive_and_wait();
    begun = 0;
    testing::set_fake_mpi({.is_finalized = true});
    std::vector<float> values(10);
    const auto error = testing::error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kClosed);
    EXPECT_NE(std::string(error->what())
                  .find("MPI_Finalize was called before this communicator was closed"),
              std::string::npos)
        << error->what();
  });
  testing::set_fake_mpi({});
  EXPECT_EQ(begun, 0);
}

// A program should wait for its Requests before MPI_Finalize. If it does not, its wait ends without
// a call of MPI. Method: MPI holds the collective back.
TEST(MpiCollectives, AreClosedAfterMpiWhileTheyAreUnderWay) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    CommunicatorOptions options = options_for("mpi");
    options.deadline = std::chrono::seconds(5);
    Communicator comm = mpi::communicator_over(watched_calls(), fake.comm(rank), options);
    comm.barrier();
    all.arrive_and_wait();
    fake.hold();
    std::vector<float> values(10);
    Request request = comm.all_reduce_async(values, ReduceOp::kSum);
    for (int i = 0; i < 100; ++i) request.test();
    all.arrive_and_wait();
    testing::set_fake_mpi({.is_finalized = true});
    const auto error = testing::error_of([&] { request.wait(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kClosed) << error->what();
  });
  testing::set_fake_mpi({});
}

TEST(MpiCollectives, AreRefusedWhereThereIsNoMpi) {
  ThreadWorldOptions options{.world_size = 2};
  options.communicator.plan = "mpi";
  const auto error = testing::error_of([&] { (void)ThreadWorld::make(options); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(),
               "the plan mpi needs ranks whose messages go over MPI, but these use shm: take auto, "
               "or make the communicator with rota::mpi::communicator");
}

constexpr const char* kOnlyProcesses =
    "the plan mpi serves only the communicator of all processes: MPI's collectives know neither "
    "the groups of split() nor the threads of for_threads(): take auto";

// A group that is not asked for a plan of its own goes by rota's plans.
TEST(MpiCollectives, AreNotThoseOfAGroupThatIsSplitOff) {
  run_mpi_plan(3, [](Communicator& comm) {
    begun = 0;
    Communicator group = comm.split(0);
    std::vector<float> values(10, 1);
    group.all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values[9], 3);
    EXPECT_EQ(begun, 0);
    const auto error = testing::error_of([&] { (void)comm.split(0, 0, "mpi"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error->what(), kOnlyProcesses);
    comm.all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values[9], 9) << "the refusal has broken the communicator";
  });
}

// All processes are refused, also one that has only one thread.
TEST(MpiCollectives, AreRefusedToThreads) {
  FakeMpi fake(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    const auto error = testing::error_of([&] {
      (void)mpi::communicators_over(watched_calls(), fake.comm(rank), rank + 1, options_for("mpi"));
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error->what(), kOnlyProcesses);
  });
}

}  // namespace
}  // namespace rota
