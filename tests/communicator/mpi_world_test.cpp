// Communicators over MPI: every collective, type and world, groups that are split off, threads as
// ranks, and an MPI that one thread has initialised.
// Method: a fake MPI between threads, which delays messages as its seed says.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/error.h>
#include <rota/mpi_calls.h>

#include "base/time.h"
#include "testing/error_of.h"
#include "testing/every_collective.h"
#include "testing/fake_mpi.h"
#include "testing/mpi_world.h"
#include "testing/on_every_rank.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/world.h"

namespace rota {
namespace {

using mpi::ThreadLevel;
using testing::EveryCollectiveCheck;
using testing::FakeMpi;

CommunicatorOptions options_with(std::string plan = "auto") {
  CommunicatorOptions options;
  options.plan = std::move(plan);
  options.deadline = std::chrono::seconds(20);
  options.join_timeout = std::chrono::seconds(20);
  return options;
}

// Where this thread's rank gathers.
thread_local const void* gathered = nullptr;

class MpiWorldTest : public ::testing::Test {
 protected:
  ~MpiWorldTest() override { testing::set_fake_mpi({}); }

  // Runs `body` on each rank of a world, with a communicator that has joined over MPI.
  // `ends_well`: no rank gives up. The MPI communicators of a failed group are never freed.
  template <class Body>
  static void run(std::size_t world_size, const CommunicatorOptions& options, Body body,
                  bool ends_well = true) {
    FakeMpi fake(world_size, world_size);
    testing::on_mpi_threads(world_size, [&](std::size_t rank) {
      try {
        Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options);
        body(comm);
      } catch (const Error& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
    EXPECT_EQ(fake.open_comms(), ends_well ? 0 : world_size);
    EXPECT_EQ(fake.open_requests(), 0U) << "an operation was not ended";
  }
};

TEST_F(MpiWorldTest, RunsEveryCollectiveInEveryWorld) {
  for (const std::size_t world_size : {1, 2, 3, 4, 5, 8}) {
    run(world_size, options_with(), [&](Communicator& comm) {
      ASSERT_EQ(comm.world_size(), world_size);
      EXPECT_EQ(comm.rank_table().transport, world_size == 1 ? "none" : "mpi");
      EveryCollectiveCheck<float>(comm).run(257);
      EveryCollectiveCheck<std::int8_t>(comm).run(16 * world_size + 1);
      EveryCollectiveCheck<std::int64_t, testing::AsRequests>(comm).run(33);
    });
  }
}

TEST_F(MpiWorldTest, RunsEveryType) {
  run(3, options_with(), [](Communicator& comm) {
    EveryCollectiveCheck<Float16>(comm).run(49);
    EveryCollectiveCheck<Bfloat16>(comm).run(49);
    EveryCollectiveCheck<double>(comm).run(49);
    EveryCollectiveCheck<std::uint8_t>(comm).run(49);
    EveryCollectiveCheck<std::int32_t>(comm).run(49);
  });
}

// Tests payloads of several pieces, of which the last is shorter.
TEST_F(MpiWorldTest, MovesManyPieces) {
  constexpr std::size_t kCount = 300'007;
  for (const char* plan : {"ring", "tree"}) {
    run(3, options_with(plan), [](Communicator& comm) {
      std::vector<float> values(kCount, static_cast<float>(comm.rank()));
      comm.all_reduce(values, ReduceOp::kSum);
      EXPECT_EQ(values, std::vector<float>(kCount, 3));
      if (comm.rank() == 1) values.assign(kCount, 7);
      comm.broadcast(values, 1);
      EXPECT_EQ(values, std::vector<float>(kCount, 7));
    });
  }
}

TEST_F(MpiWorldTest, SplitsOffGroups) {
  run(5, options_with(), [](Communicator& comm) {
    Communicator half = comm.split(comm.rank() % 2, comm.world_size() - comm.rank());
    EveryCollectiveCheck<float>(half).run(257);
    Communicator again = half.split(0);
    EXPECT_EQ(again.rank_table().transport, "mpi");
    EveryCollectiveCheck<float>(again).run(33);
    EveryCollectiveCheck<float>(comm).run(33);
    EXPECT_EQ(half.split(half.rank()).rank_table().transport, "none");
  });
}

TEST_F(MpiWorldTest, HasThreadsAsRanks) {
  for (const ThreadLevel level : {ThreadLevel::kMultiple, ThreadLevel::kSerialized}) {
    testing::set_fake_mpi({.level = level});
    FakeMpi fake(3, 7);
    testing::on_mpi_threads(3, [&](std::size_t rank) {
      auto threads =
          mpi::communicators_over(FakeMpi::calls(), fake.comm(rank), rank + 1, options_with());
      ASSERT_EQ(threads.size(), rank + 1);
      EXPECT_EQ(threads[0].world_size(), 6U);
      testing::on_every_rank(threads, [](Communicator& comm) {
        EveryCollectiveCheck<float>(comm).run(257);
        Communicator half = comm.split(comm.rank() % 2);
        EveryCollectiveCheck<std::int32_t>(half).run(33);
      });
    });
    EXPECT_EQ(fake.open_comms(), 0U);
  }
}

// Whichever rank uses which of the two first, no message of one reaches the other.
TEST_F(MpiWorldTest, HasSeveralCommunicatorsOverOneOfMpi) {
  FakeMpi fake(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator first = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_with());
    Communicator second = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_with());
    std::vector<float> one(10, 1);
    std::vector<float> two(10, 2);
    Request earlier =
        (rank == 0 ? first : second).all_reduce_async(rank == 0 ? one : two, ReduceOp::kSum);
    (rank == 0 ? second : first).all_reduce(rank == 0 ? two : one, ReduceOp::kSum);
    earlier.wait();
    EXPECT_EQ(one[9], 2);
    EXPECT_EQ(two[9], 4);
  });
}

TEST_F(MpiWorldTest, IsForTheThreadThatInitialisedMpiWhereMpiIsFunneled) {
  for (const ThreadLevel level : {ThreadLevel::kFunneled, ThreadLevel::kSingle}) {
    testing::set_fake_mpi({.level = level});
    run(2, options_with(), [](Communicator& comm) {
      EveryCollectiveCheck<float, testing::AsRequests>(comm).run(33);
      std::thread([&] {
        const auto error = testing::error_of([&] { comm.barrier(); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
        EXPECT_STREQ(error->what(),
                     "the transport mpi allows only one thread: call from the thread that created "
                     "the communicator");
      }).join();
      comm.barrier();
    });
  }
}

std::string refusal(FakeMpi& fake, const CommunicatorOptions& options = options_with()) {
  const auto error = testing::error_of(
      [&] { (void)mpi::communicator_over(FakeMpi::calls(), fake.comm(0), options); });
  return error ? error->what() : "nothing was refused";
}

TEST_F(MpiWorldTest, RefusesAnMpiThatCannotBeUsed) {
  FakeMpi fake(2);
  testing::set_fake_mpi({.is_initialized = false});
  EXPECT_EQ(refusal(fake), "rota::mpi::communicator: call MPI_Init or MPI_Init_thread first");
  testing::set_fake_mpi({.is_finalized = true});
  EXPECT_EQ(refusal(fake), "rota::mpi::communicator: MPI_Finalize was called already");
  testing::set_fake_mpi({.level = ThreadLevel::kFunneled});
  testing::be_main_thread(false);
  EXPECT_EQ(refusal(fake),
            "rota::mpi::communicator: MPI allows only the thread that initialised it: call from "
            "that thread, or initialise MPI with MPI_Init_thread and MPI_THREAD_SERIALIZED");
}

TEST_F(MpiWorldTest, RefusesATableOfAnotherVersion) {
  FakeMpi fake(1);
  mpi::Calls calls = FakeMpi::calls();
  calls.version = 7;
  const auto error =
      testing::error_of([&] { (void)mpi::communicator_over(calls, fake.comm(0), options_with()); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "rota::mpi::communicator: the library for a fake MPI has version 7 of the table of "
               "MPI functions, but rota needs 1: take both from one release of rota");
}

TEST_F(MpiWorldTest, RefusesToEncrypt) {
  FakeMpi fake(2);
  CommunicatorOptions options = options_with();
  options.encrypt = true;
  EXPECT_EQ(refusal(fake, options),
            "rota::mpi::communicator: rota cannot encrypt what MPI sends: leave `encrypt` off");
}

TEST_F(MpiWorldTest, EndsTheWaitForARankThatDoesNotJoin) {
  FakeMpi fake(2);
  CommunicatorOptions options = options_with();
  options.join_timeout = std::chrono::milliseconds(30);
  EXPECT_EQ(refusal(fake, options),
            "rank 0 of an MPI communicator of 2: not all of its ranks have called "
            "rota::mpi::communicator in time");
}

// Method: rank 1 comes after rank 0 has given up. MPI counts both, but rank 0 takes part in nothing
// that comes after.
TEST_F(MpiWorldTest, EndsTheWaitForARankThatHasGivenUp) {
  FakeMpi fake(2);
  CommunicatorOptions options = options_with();
  options.join_timeout = std::chrono::milliseconds(100);
  for (const std::size_t rank : {0, 1}) {
    const auto error = testing::error_of(
        [&] { (void)mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kTimeout) << error->what();
    const std::string missing =
        rank == 0 ? "called rota::mpi::communicator" : "said where they run";
    EXPECT_EQ(error->what(), "rank " + std::to_string(rank) +
                                 " of an MPI communicator of 2: not all of its ranks have " +
                                 missing + " in time");
  }
}

// As a program that knows no MPI, in a job whose transport is mpi.
TEST_F(MpiWorldTest, NamesTheCallOfTheProgram) {
  FakeMpi fake(2);
  const auto error = testing::error_of([&] {
    const auto deadline = base::Clock::now() + std::chrono::milliseconds(30);
    const transport::mpi::World world(FakeMpi::calls(), fake.comm(0), deadline, {},
                                      "the constructor");
  });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "rank 0 of an MPI communicator of 2: not all of its ranks have called the "
               "constructor in time");
}

// Method: another thread ends MPI while rank 0 waits for rank 1, which never comes.
TEST_F(MpiWorldTest, EndsTheWaitForOtherRanksAfterMpi) {
  FakeMpi fake(2);
  std::thread program([&] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (fake.open_requests() == 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    testing::set_fake_mpi({.is_finalized = true});
  });
  const auto error = testing::error_of(
      [&] { (void)mpi::communicator_over(FakeMpi::calls(), fake.comm(0), options_with()); });
  program.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kClosed) << error->what();
}

// A table of functions that shows where MPI writes the parts of a gather.
const mpi::Calls& calls_that_show() {
  static const mpi::Calls kCalls = [] {
    mpi::Calls calls = FakeMpi::calls();
    calls.all_gather = [](const void* input, void* values, int part_count, DataType type,
                          mpi::Handle comm, mpi::Handle& request) noexcept {
      gathered = values;
      return FakeMpi::calls().all_gather(input, values, part_count, type, comm, request);
    };
    return calls;
  }();
  return kCalls;
}

TEST_F(MpiWorldTest, LeavesItsOwnBuffersToMpi) {
  FakeMpi fake(2);
  const std::vector<std::byte> part(20'000, std::byte{7});
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    const auto soon = [] { return base::Clock::now() + std::chrono::milliseconds(300); };
    transport::mpi::World world(calls_that_show(), fake.comm(rank), soon());
    if (rank == 1) return;
    EXPECT_TRUE(testing::error_of([&] { (void)world.all_gather(part, soon()); }));
    const std::vector<std::vector<std::byte>> others(50, std::vector<std::byte>(40'000));
    EXPECT_EQ(*static_cast<const std::byte*>(gathered), std::byte{7});
  });
  EXPECT_EQ(fake.open_comms(), 1U) << "MPI still uses the communicator of rank 0";
}

// Method: MPI refuses to receive what does not fit into a header.
TEST_F(MpiWorldTest, CancelsNoReceiveThatHasFailed) {
  static const mpi::Calls kCalls = [] {
    mpi::Calls calls = FakeMpi::calls();
    calls.receive = [](void* data, int bytes, int peer, int tag, mpi::Handle comm,
                       mpi::Handle& request) noexcept {
      request = 0;
      return bytes > 4096 ? 1 : FakeMpi::calls().receive(data, bytes, peer, tag, comm, request);
    };
    return calls;
  }();
  FakeMpi fake(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm = mpi::communicator_over(kCalls, fake.comm(rank), options_with());
    std::vector<float> values(10'000);
    const auto error =
        testing::error_of([&] { rank == 0 ? comm.send(values, 1) : comm.receive(values, 0); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("MPI_Irecv failed: fake error 1"), std::string::npos)
        << error->what();
  });
}

// The values fit into a message that MPI copies at once, so MPI keeps no buffer.
TEST_F(MpiWorldTest, TellsAllRanksWhyOneGivesUp) {
  run(
      3, options_with(),
      [](Communicator& comm) {
        std::vector<float> values(100);
        if (comm.rank() == 1) return comm.abort("the disk is full");
        const auto error = testing::error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ErrorCode::kAborted);
        EXPECT_EQ(error->blamed_rank(), std::size_t{1});
        EXPECT_STREQ(error->what(), "rank 1: the disk is full");
      },
      false);
}

TEST_F(MpiWorldTest, SaysWhichCallsDiffer) {
  run(
      2, options_with(),
      [](Communicator& comm) {
        std::vector<float> values(comm.rank() == 0 ? 10 : 11);
        const auto error = testing::error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ErrorCode::kMismatch) << error->what();
      },
      false);
}

TEST_F(MpiWorldTest, SaysThatMpiHasFailed) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_with());
    all.arrive_and_wait();
    fake.fail();
    const auto error = testing::error_of([&] { comm.barrier(); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("failed: fake error 1"), std::string::npos)
        << error->what();
  });
}

TEST_F(MpiWorldTest, SaysThatBuffersAreKept) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    CommunicatorOptions options = options_with("ring");
    options.deadline = std::chrono::milliseconds(100);
    Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options);
    all.arrive_and_wait();
    fake.hold();
    std::vector<float> values(100'000);
    const auto error =
        testing::error_of([&] { rank == 0 ? comm.send(values, 1) : comm.receive(values, 0); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what())
                  .find("; MPI may still use the buffers of calls that failed: keep them until the "
                        "process ends"),
              std::string::npos)
        << error->what();
  });
}

// A thread that may not call MPI cannot cancel what is under way either.
TEST_F(MpiWorldTest, SaysThatBuffersAreKeptWhereAnotherThreadGivesUp) {
  testing::set_fake_mpi({.level = ThreadLevel::kFunneled});
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm =
        mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_with("ring"));
    comm.barrier();
    all.arrive_and_wait();
    fake.hold();
    std::vector<float> values(100'000);
    Request request = comm.all_reduce_async(values, ReduceOp::kSum);
    // MPI gets values, and keeps them. A test() does nothing while the other rank calls MPI.
    while (!fake.has_unread_mail_of(rank)) request.test();
    all.arrive_and_wait();
    std::thread([&] { comm.abort("the disk is full"); }).join();
    const auto error = testing::error_of([&] { request.wait(); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("MPI may still use the buffers"), std::string::npos)
        << error->what();
    all.arrive_and_wait();
  });
}

TEST_F(MpiWorldTest, IsClosedAfterMpi) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_with());
    comm.barrier();
    all.arrive_and_wait();
    testing::set_fake_mpi({.is_finalized = true});
    const auto error = testing::error_of([&] { comm.barrier(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kClosed);
    EXPECT_NE(std::string(error->what())
                  .find("MPI_Finalize was called before this communicator was closed"),
              std::string::npos)
        << error->what();
  });
  EXPECT_EQ(fake.open_comms(), 2U) << "a communicator is freed after MPI_Finalize";
}

// Method: rank 0 has got the header of a message, and MPI holds the payload back. Rank 1 makes no
// call meanwhile, so it cannot tell rank 0 of the end.
TEST_F(MpiWorldTest, ClosesAReceiveThatIsUnderWayAfterMpi) {
  testing::set_fake_mpi({.level = ThreadLevel::kSerialized});
  FakeMpi fake(2);
  CommunicatorOptions options = options_with();
  options.deadline = std::chrono::seconds(5);
  auto world = testing::mpi_world_of(fake, 2, options);
  fake.hold();
  std::barrier all(2);
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(100'000);
    const bool receives = comm.rank() == 0;
    Request request = receives ? comm.receive_async(values, 1) : comm.send_async(values, 0);
    for (int i = 0; i < 100; ++i) request.test();
    all.arrive_and_wait();
    if (receives) {
      for (int i = 0; i < 100; ++i) request.test();
      testing::set_fake_mpi({.is_finalized = true, .level = ThreadLevel::kSerialized});
      const auto error = testing::error_of([&] { request.wait(); });
      EXPECT_TRUE(error && error->code() == ErrorCode::kClosed) << (error ? error->what() : "");
    }
    all.arrive_and_wait();
  });
}

// Method: the message has no payload, so nothing is received between its header and its end.
TEST_F(MpiWorldTest, AsksForNoNextMessageAfterMpi) {
  FakeMpi fake(2);
  std::barrier all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    const transport::mpi::World world(FakeMpi::calls(), fake.comm(rank),
                                      base::Clock::now() + std::chrono::seconds(20));
    transport::mpi::MpiChannel channel(
        world,
        {.process = rank == 0 ? 1 : 0, .out_tag = rank == 0 ? 0 : 2, .in_tag = rank == 0 ? 2 : 0});
    if (rank == 1) {
      channel.start_send({}, {});
      while (channel.progress_send() != transport::Progress::kDone) std::this_thread::yield();
    } else {
      while (!channel.incoming()) std::this_thread::yield();
    }
    all.arrive_and_wait();
    if (rank == 0) {
      testing::set_fake_mpi({.is_finalized = true});
      const auto error = testing::error_of([&] { channel.finish_receive(); });
      EXPECT_TRUE(error && error->code() == ErrorCode::kClosed) << (error ? error->what() : "");
    }
    all.arrive_and_wait();
  });
  EXPECT_EQ(fake.open_requests(), 0U) << "a receive was begun after MPI_Finalize";
}

TEST_F(MpiWorldTest, SaysThatItsTagsAreUsed) {
  FakeMpi fake(2);
  testing::set_fake_mpi({.largest_tag = 10});
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options_with());
    Communicator second = comm.split(0);
    const auto error = testing::error_of([&] { (void)comm.split(0); });
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("a fake MPI has 10 tags"), std::string::npos)
        << error->what();
  });
}

}  // namespace
}  // namespace rota
