// Which threads call an MPI that does not allow several threads at a time.
// Method: a fake MPI between threads. Its table of functions counts the calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/checkpoint.h>
#include <rota/communicator.h>
#include <rota/error.h>
#include <rota/mpi_calls.h>
#include <rota/own_threads.h>

#include "base/time.h"
#include "checkpoint/toy_run.h"
#include "testing/error_of.h"
#include "testing/every_collective.h"
#include "testing/fake_mpi.h"
#include "testing/mpi_world.h"
#include "testing/on_every_rank.h"
#include "testing/said_by_child.h"
#include "training/temporary_folder.h"
#include "transport/mpi/world.h"

namespace rota {
namespace {

using mpi::ThreadLevel;
using testing::EveryCollectiveCheck;
using testing::FakeMpi;

CommunicatorOptions options_of_threads(std::string plan = "auto") {
  CommunicatorOptions options;
  options.plan = std::move(plan);
  options.deadline = std::chrono::seconds(20);
  options.join_timeout = std::chrono::seconds(20);
  return options;
}

class MpiThreadsTest : public ::testing::Test {
 protected:
  ~MpiThreadsTest() override { testing::set_fake_mpi({}); }
};

// Counts the threads that are in MPI at the same time.
std::atomic<int> inside{0};
std::atomic<int> most_inside{0};

const mpi::Calls& counting_calls() {
  static const mpi::Calls kCalls = [] {
    mpi::Calls counting = FakeMpi::calls();
    counting.test = [](mpi::Handle& request, bool& is_done) noexcept {
      most_inside = std::max(most_inside.load(), ++inside);
      std::this_thread::yield();
      const int error = FakeMpi::calls().test(request, is_done);
      --inside;
      return error;
    };
    return counting;
  }();
  return kCalls;
}

TEST_F(MpiThreadsTest, LetsOneThreadIntoAnMpiThatIsSerialized) {
  testing::set_fake_mpi({.level = ThreadLevel::kSerialized});
  // Each of the two ranks is in the place of a process, and all four threads share the flag.
  most_inside = 0;
  FakeMpi fake(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    auto threads =
        mpi::communicators_over(counting_calls(), fake.comm(rank), 2, options_of_threads());
    testing::on_every_rank(threads, [](Communicator& comm) {
      EveryCollectiveCheck<float, testing::AsRequests>(comm).run(33);
    });
  });
  EXPECT_EQ(most_inside, 1);
}

// Counts the calls of MPI by threads that the test has not started.
thread_local bool is_of_test = false;
std::atomic<int> calls_of_others{0};

const mpi::Calls& calls_that_count_others() {
  static const mpi::Calls kCalls = [] {
    mpi::Calls counting = FakeMpi::calls();
    counting.test = [](mpi::Handle& request, bool& is_done) noexcept {
      if (!is_of_test) ++calls_of_others;
      return FakeMpi::calls().test(request, is_done);
    };
    return counting;
  }();
  return kCalls;
}

// Starts an all-reduce, makes no call of rota for a while, and lets another thread finish it.
void finish_on_another_thread(Communicator& comm, std::barrier<>& all) {
  std::vector<float> values(10'007, 1);
  Request request = comm.all_reduce_async(values, ReduceOp::kSum);
  all.arrive_and_wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(calls_of_others, 0) << "rota calls MPI behind the program's back";
  all.arrive_and_wait();
  std::thread([&] {
    is_of_test = true;
    request.wait();
  }).join();
  EXPECT_EQ(values, std::vector<float>(10'007, 2));
}

// Method: no thread waits for the request of either rank. The ring needs answers of the other rank,
// so the all-reduce is pending meanwhile, and a progress thread would test its receives.
TEST_F(MpiThreadsTest, MovesNothingBetweenCallsOfASerializedMpi) {
  testing::set_fake_mpi({.level = ThreadLevel::kSerialized});
  calls_of_others = 0;
  FakeMpi fake(2);
  std::barrier<> all(2);
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    is_of_test = true;
    Communicator comm = mpi::communicator_over(calls_that_count_others(), fake.comm(rank),
                                               options_of_threads("ring"));
    finish_on_another_thread(comm, all);
    Communicator group = comm.split(0);
    finish_on_another_thread(group, all);
  });
  EXPECT_EQ(calls_of_others, 0);
}

// Polls until the request has ended. Returns its Error.
template <class Poll>
std::optional<Error> end_of_polled(Request& request, Poll poll) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  return testing::error_of([&] {
    while (!poll(request) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(request.test()) << "a request that is only polled does not end";
    request.wait();
  });
}

// Returns how rank 0's all-reduce ends if `leave` is all that rank 1 does. Rank 0 only polls.
template <class Poll, class Leave>
std::optional<Error> end_of_polled(ThreadLevel level, std::chrono::milliseconds deadline, Poll poll,
                                   Leave leave) {
  testing::set_fake_mpi({.level = level});
  FakeMpi fake(2);
  std::barrier<> all(2);
  std::optional<Error> end;
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    CommunicatorOptions options = options_of_threads();
    options.deadline = deadline;
    Communicator comm = mpi::communicator_over(FakeMpi::calls(), fake.comm(rank), options);
    std::vector<float> values(100);  // MPI copies so few.
    if (rank == 1) {
      leave(comm);
    } else {
      Request request = comm.all_reduce_async(values, ReduceOp::kSum);
      end = end_of_polled(request, poll);
    }
    all.arrive_and_wait();
  });
  return end;
}

// Below kMultiple, no thread of rota looks at the time or listens to the coordinator. At kMultiple,
// one does, but a caller of wait_for() keeps it away most of the time.
TEST_F(MpiThreadsTest, EndsARequestThatIsOnlyPolled) {
  const auto by_test = [](Request& request) { return request.test(); };
  const auto by_wait = [](Request& request) {
    return request.wait_for(std::chrono::nanoseconds(0));
  };
  for (const ThreadLevel level :
       {ThreadLevel::kFunneled, ThreadLevel::kSerialized, ThreadLevel::kMultiple}) {
    const auto stay_away = [](Communicator&) {};
    constexpr std::chrono::milliseconds kSoon{300};
    for (const auto& end : {end_of_polled(level, kSoon, by_test, stay_away),
                            end_of_polled(level, kSoon, by_wait, stay_away)}) {
      ASSERT_TRUE(end);
      EXPECT_EQ(end->code(), ErrorCode::kTimeout) << end->what();
      EXPECT_EQ(end->blamed_rank(), std::size_t{1}) << end->what();
    }
    const auto end = end_of_polled(level, std::chrono::seconds(20), by_test,
                                   [](Communicator& comm) { comm.abort("the disk is full"); });
    ASSERT_TRUE(end);
    EXPECT_STREQ(end->what(), "rank 1: the disk is full");
  }
}

// Saves a checkpoint with two ranks. Returns what rank 0 has noted.
std::string note_of_save(ThreadLevel level) {
  testing::set_fake_mpi({.level = level});
  const testing::TemporaryFolder folder;
  FakeMpi fake(2);
  std::string note;
  testing::on_mpi_threads(2, [&](std::size_t rank) {
    is_of_test = true;
    const auto error = testing::error_of([&] {
      Communicator comm =
          mpi::communicator_over(calls_that_count_others(), fake.comm(rank), options_of_threads());
      EXPECT_EQ(allows_own_threads(comm), level == ThreadLevel::kMultiple);
      CheckpointOptions options;
      options.folder = folder.path() / "run";
      testing::ToyRun run;
      Checkpointer checkpointer(comm, options, run.visitor());
      const Restored restored = checkpointer.restore();
      if (rank == 0) note = restored.note;
      run.fill(1, rank);
      checkpointer.save(1);
      checkpointer.finish(1);
    });
    EXPECT_STREQ(error ? error->what() : "", "");
  });
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/000000000001/manifest.json"));
  return note;
}

// A Checkpointer saves in a thread by default, and that thread calls collectives.
TEST_F(MpiThreadsTest, SavesCheckpointsOnTheThreadThatTrains) {
  calls_of_others = 0;
  for (const ThreadLevel level : {ThreadLevel::kFunneled, ThreadLevel::kSerialized}) {
    EXPECT_EQ(note_of_save(level),
              "training waits until each checkpoint is written, since no thread of rota may call "
              "this MPI: initialise MPI with MPI_THREAD_MULTIPLE, or set asynchronous to false");
  }
  EXPECT_EQ(calls_of_others, 0);
  EXPECT_EQ(note_of_save(ThreadLevel::kMultiple), "");
  EXPECT_GT(calls_of_others, 0);
}

// When a child ends with exit(), rota's end of MPI runs there as well: MPI_Finalize would wait for
// all ranks, and end what belongs to the parent.
TEST_F(MpiThreadsTest, LetsNoChildOfAForkCallMpi) {
  FakeMpi fake(1);
  testing::on_mpi_threads(1, [&](std::size_t rank) {
    const transport::mpi::World world(FakeMpi::calls(), fake.comm(rank),
                                      base::Clock::now() + std::chrono::seconds(20));
    const auto said =
        testing::said_by_child([&] { return world.may_call() ? "may call" : "may not"; });
    EXPECT_EQ(said, "may not");
    EXPECT_TRUE(world.may_call());
  });
}

}  // namespace
}  // namespace rota
