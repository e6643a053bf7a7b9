// Tests what is particular to MPI, with a real MPI: several communicators, groups, threads as
// ranks, and collectives of MPI's own beside rota's.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <gtest/gtest.h>
#include <rota/mpi.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/checkpoint.h>
#include <rota/error.h>

#include "checkpoint/toy_run.h"
#include "ranks/ranks.h"
#include "testing/error_of.h"
#include "testing/every_collective.h"
#include "testing/on_every_rank.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

CommunicatorOptions options_of_mpi(const char* plan = "auto") {
  CommunicatorOptions options;
  options.plan = plan;
  options.deadline = std::chrono::seconds(20);
  return options;
}

int level_of_mpi() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

TEST(Mpi, IsTheTransport) {
  const Communicator& world = the_communicator();
  EXPECT_EQ(world.rank_table().transport, world.world_size() == 1 ? "none" : "mpi");
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_EQ(world.rank(), static_cast<std::size_t>(rank));
}

TEST(Mpi, HasTwoCommunicatorsOverOneOfItsOwn) {
  Communicator first = mpi::communicator(MPI_COMM_WORLD, options_of_mpi());
  Communicator second = mpi::communicator(MPI_COMM_WORLD, options_of_mpi());
  std::vector<float> one(1009, 1);
  std::vector<float> two(1009, 2);
  const auto n = static_cast<float>(first.world_size());
  const bool is_odd = first.rank() % 2 == 1;
  Request earlier = (is_odd ? second : first).all_reduce_async(is_odd ? two : one, ReduceOp::kSum);
  (is_odd ? first : second).all_reduce(is_odd ? one : two, ReduceOp::kSum);
  earlier.wait();
  EXPECT_EQ(one[1008], n);
  EXPECT_EQ(two[1008], 2 * n);
}

// A program's own messages have the same tags as rota's, and do not meet them. The program calls
// MPI while a Request is pending: below MPI_THREAD_MULTIPLE, no thread of rota does so then.
TEST(Mpi, CarriesTheProgramsOwnMessagesToo) {
  Communicator& world = the_communicator();
  const int n = static_cast<int>(world.world_size());
  const int rank = static_cast<int>(world.rank());
  std::vector<float> values(1009, 1);
  Request request = world.all_reduce_async(values, ReduceOp::kSum);
  int sent = rank;
  int got = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % n, 0, &got, 1, MPI_INT, (rank + n - 1) % n, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  request.wait();
  EXPECT_EQ(got, (rank + n - 1) % n);
  EXPECT_EQ(values[1008], static_cast<float>(n));
}

// A group of MPI's own may have no such attribute.
TEST(Mpi, HasManyTagsInAGroupOfMpisOwn) {
  MPI_Comm half = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  int* most = nullptr;
  int is_set = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &is_set);
  ASSERT_NE(is_set, 0);
  int tag = 0;
  EXPECT_EQ(ROTA_MPI_CALLS()->largest_tag(tag), 0);
  EXPECT_EQ(tag, *most);
  {
    Communicator group = mpi::communicator(half, options_of_mpi());
    testing::EveryCollectiveCheck<float>(group).run(33);
  }
  MPI_Comm_free(&half);
}

// Returns an intercommunicator of the ranks with even numbers and those with odd ones.
MPI_Comm even_beside_odd(MPI_Comm half) {
  MPI_Comm both = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  return both;
}

void expect_refused(MPI_Comm comm) {
  const auto error = testing::error_of([&] { (void)mpi::communicator(comm, options_of_mpi()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument) << error->what();
  EXPECT_NE(std::string(error->what()).find("give an MPI_Comm of one group"), std::string::npos)
      << error->what();
}

// MPI itself would end the program.
TEST(Mpi, RefusesWhatIsNoCommunicatorOfOneGroup) {
  expect_refused(MPI_COMM_NULL);
  Communicator& world = the_communicator();
  if (world.world_size() == 1) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(world.rank() % 2), 0, &half);
  MPI_Comm both = even_beside_odd(half);
  expect_refused(both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

// MPI itself ends a program that cancels a request that is not there.
TEST(Mpi, EndsNoProgramForAReceiveThatCannotBegin) {
  const mpi::Calls& calls = *ROTA_MPI_CALLS();
  mpi::Handle comm = 0;
  mpi::Handle request = 0;
  ASSERT_EQ(calls.duplicate(mpi::handle_of(MPI_COMM_SELF), comm, request), 0);
  for (bool is_done = false; !is_done;) ASSERT_EQ(calls.test(request, is_done), 0);
  ASSERT_EQ(calls.return_errors(comm), 0);
  int value = 0;
  EXPECT_NE(calls.receive(&value, sizeof value, 99, 0, comm, request), 0);
  EXPECT_EQ(calls.cancel(request), 0);
  bool is_done = false;
  EXPECT_EQ(calls.test(request, is_done), 0);
  EXPECT_TRUE(is_done);
  EXPECT_EQ(calls.free(comm), 0);
}

TEST(Mpi, HasGroups) {
  Communicator& world = the_communicator();
  Communicator half = world.split(world.rank() % 2, world.world_size() - world.rank());
  testing::EveryCollectiveCheck<float>(half).run(1009);
  Communicator again = half.split(0);
  testing::EveryCollectiveCheck<std::int64_t, testing::AsRequests>(again).run(33);
  testing::EveryCollectiveCheck<float>(world).run(33);
}

TEST(Mpi, HasThreadsAsRanks) {
  if (level_of_mpi() < MPI_THREAD_SERIALIZED) {
    EXPECT_THROW((void)mpi::for_threads(MPI_COMM_WORLD, 2, options_of_mpi()), Error);
    return;
  }
  std::vector<Communicator> threads = mpi::for_threads(MPI_COMM_WORLD, 2, options_of_mpi());
  ASSERT_EQ(threads.size(), 2U);
  testing::on_every_rank(
      threads, [](Communicator& comm) { testing::EveryCollectiveCheck<float>(comm).run(257); });
}

TEST(Mpi, LetsInTheThreadsThatItsLevelAllows) {
  Communicator& world = the_communicator();
  std::vector<float> values(1009, 1);
  std::thread([&] {
    if (level_of_mpi() >= MPI_THREAD_SERIALIZED || world.world_size() == 1) {
      return world.all_reduce(values, ReduceOp::kSum);
    }
    EXPECT_THROW(world.all_reduce(values, ReduceOp::kSum), Error);
  }).join();
  world.barrier();
}

TEST(Mpi, RunsItsOwnCollectives) {
  Communicator own = mpi::communicator(MPI_COMM_WORLD, options_of_mpi("mpi"));
  testing::EveryCollectiveCheck<float>(own).run(1009);
  testing::EveryCollectiveCheck<double, testing::AsRequests>(own).run(16 * own.world_size());
  testing::EveryCollectiveCheck<std::int8_t>(own).run(33);
  testing::EveryCollectiveCheck<Bfloat16>(own).run(33);
  Communicator half = own.split(own.rank() % 2);
  testing::EveryCollectiveCheck<float>(half).run(33);
}

// For four ranks and this many bytes, Open MPI chooses its algorithm by who is in place.
TEST(Mpi, AgreesWhereOnlySomeRanksHaveAnInputOfTheirOwn) {
  Communicator own = mpi::communicator(MPI_COMM_WORLD, options_of_mpi("mpi"));
  constexpr std::size_t kCount = 20'000;
  const bool has_input = own.rank() == 1;
  const std::vector<float> input(kCount, 1);
  std::vector<float> values(kCount, has_input ? 7 : 1);
  has_input ? own.all_reduce(input, values, ReduceOp::kSum)
            : own.all_reduce(values, ReduceOp::kSum);
  EXPECT_EQ(values, std::vector<float>(kCount, static_cast<float>(own.world_size())));
}

// Returns the path of rank 0's folder on every rank. Collective.
std::string path_on_every_rank(const std::optional<testing::TemporaryFolder>& folder) {
  std::array<char, 1024> path{};  // With a zero at its end.
  if (folder) folder->path().string().copy(path.data(), path.size() - 1);
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return path.data();
}

// The program calls MPI while a save may be under way: below MPI_THREAD_MULTIPLE, a thread that
// saves must not be in MPI then.
TEST(Mpi, SavesAndRestoresACheckpoint) {
  Communicator& world = the_communicator();
  std::optional<testing::TemporaryFolder> folder;
  if (world.rank() == 0) folder.emplace();
  CheckpointOptions options;
  options.folder = path_on_every_rank(folder);
  testing::ToyRun saved;
  {
    Checkpointer checkpointer(world, options, saved.visitor());
    const std::string note = checkpointer.restore().note;
    const bool has_to_wait = level_of_mpi() < MPI_THREAD_MULTIPLE && world.world_size() > 1;
    EXPECT_EQ(note.find("MPI_THREAD_MULTIPLE") != std::string::npos, has_to_wait) << note;
    saved.fill(1, world.rank());
    checkpointer.save(1);
    for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
    checkpointer.finish(1);
  }
  testing::ToyRun restored;
  Checkpointer checkpointer(world, options, restored.visitor());
  EXPECT_EQ(checkpointer.restore().step, 1U);
  EXPECT_EQ(restored, saved);
  world.barrier();  // Only then does rank 0 remove its folder.
}

// Method: rank 0 destroys its communicator, and only then sends a message of the program's own. The
// others destroy theirs after that message. A destructor that waited for them would never end.
TEST(Mpi, DestroysACommunicatorBeforeTheOtherRanksDo) {
  std::optional<Communicator> own(mpi::communicator(MPI_COMM_WORLD, options_of_mpi()));
  const int n = static_cast<int>(own->world_size());
  const bool is_first = own->rank() == 0;
  own->barrier();
  int word = 7;
  if (is_first) own.reset();
  for (int peer = 1; is_first && peer < n; ++peer) {
    MPI_Send(&word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  }
  if (!is_first) MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  own.reset();
  EXPECT_EQ(word, 7);
}

TEST(Mpi, EndsACommunicatorThatARankGivesUp) {
  Communicator own = mpi::communicator(MPI_COMM_WORLD, options_of_mpi());
  if (own.world_size() == 1) return;
  std::vector<float> values(100);  // MPI copies so few, and then waits for no rank.
  if (own.rank() == 1) return own.abort("the disk is full");
  try {
    own.all_reduce(values, ReduceOp::kSum);
    FAIL() << "an aborted communicator went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
    EXPECT_EQ(error.blamed_rank(), std::size_t{1}) << error.what();
  }
}

}  // namespace
}  // namespace rota
