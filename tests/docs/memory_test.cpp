// Tests those formulas of docs/memory.md that one process is enough to measure: the tables and
// scratch memory of plans, the front of an arena, and the heap of a communicator and of encrypted
// connections.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>

#include "auth/talk.h"
#include "base/memory_terms.h"
#include "collectives/choice.h"
#include "collectives/planned.h"
#include "communicator/thread_world.h"
#include "testing/mixed_world.h"
#include "transport/shm/arena_layout.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::Plan;
using collectives::PlanRequest;

Algorithm chosen_for(std::size_t bytes, const collectives::Surroundings& world) {
  return collectives::choose({.type = DataType::kByte, .count = bytes}, world).algorithm;
}

std::size_t bytes_of(const Plan& plan) {
  return plan.steps.capacity() * sizeof(plan.steps[0]) +
         plan.afters.capacity() * sizeof(plan.afters[0]) +
         plan.lanes.capacity() * sizeof(plan.lanes[0]);
}

// Calls `check` with every kind of plan for a rank in a world of `n` ranks, and with its request.
template <class Check>
void for_every_plan(std::size_t n, std::size_t rank, Check check) {
  const auto last_collective = static_cast<int>(Collective::kReceive);
  const auto last_algorithm = static_cast<int>(Algorithm::kDissemination);
  std::vector<std::size_t> hosts(n);
  for (std::size_t i = 0; i < n; ++i) hosts[i] = 3 * i / n;
  for (int c = 1; c <= last_collective; ++c) {
    for (int a = 1; a <= last_algorithm; ++a) {
      const auto collective = static_cast<Collective>(c);
      if (!makes(static_cast<Algorithm>(a), collective)) continue;
      for (const bool in_place : {false, true}) {
        for (const bool pre_scales : {false, true}) {
          PlanRequest request{{.collective = collective,
                               .algorithm = static_cast<Algorithm>(a),
                               .count = 64 * n,
                               .root = n - 1,
                               .in_place = in_place},
                              rank,
                              n};
          request.pre_scales = pre_scales && reduces(collective);
          request.hosts = hosts;
          check(request, collectives::make_plan(request));
        }
      }
    }
  }
}

TEST(Memory, APlansTablesAndScratchAreAsSmallAsThePageSays) {
  std::size_t seen = 0;
  for (const std::size_t n : {2, 3, 4, 5, 8, 13, 32, 64}) {
    for (std::size_t rank = 0; rank < n; ++rank) {
      for_every_plan(n, rank, [&](const PlanRequest& request, const Plan& plan) {
        const std::string what = std::string(to_string(request.collective)) + " by " +
                                 std::string(to_string(request.algorithm)) + ", rank " +
                                 std::to_string(rank) + " of " + std::to_string(n);
        EXPECT_LE(bytes_of(plan), base::plan_table_bytes(n)) << what;
        EXPECT_LE(plan.lanes.size(), 2 * n + 1) << what;
        EXPECT_LE(plan.scratch_count, request.count) << what;
        ++seen;
      });
    }
  }
  EXPECT_GT(seen, 1000u);
}

// Eight operations run at the same time, and a segment of this test has 16 elements.
TEST(Memory, APlanOfADeviceStagesFourSegmentsForEachConnection) {
  constexpr std::size_t kSegment = 16;
  for (const std::size_t n : {2, 3, 8, 32}) {
    for (std::size_t rank = 0; rank < n; ++rank) {
      for_every_plan(n, rank, [&](PlanRequest request, const Plan&) {
        request.memory = MemoryKind::of_device(0);
        request.segment_count = kSegment;
        const Plan plan = collectives::make_plan(request);
        const auto connections = std::ranges::count_if(
            plan.lanes,
            [](const collectives::Lane& lane) { return !collectives::is_local(lane.kind); });
        EXPECT_LE(plan.staging_count, 4 * kSegment * static_cast<std::size_t>(connections));
        const std::size_t most = request.algorithm == Algorithm::kRing ? 2 : 2 * (n - 1);
        EXPECT_LE(static_cast<std::size_t>(connections), most);
      });
    }
  }
}

// Each rank's chunk has 16 pieces.
TEST(Memory, ACodedPlanIsAsSmallAsThePageSays) {
  for (const std::size_t n : {2, 3, 8, 32}) {
    const std::size_t count = n * 16 * 64 * 1024;
    PlanRequest request{{.algorithm = Algorithm::kRing,
                         .count = count,
                         .in_place = false,
                         .codec = Codec::kInt8,
                         .feeds_back = true},
                        0,
                        n};
    request.pre_scales = true;
    const Plan plan = collectives::make_plan(request);
    EXPECT_LE(bytes_of(plan), 16 * n * 1536) << n;
    EXPECT_EQ(plan.coded_count, count);
    EXPECT_EQ(plan.scratch_count, 0u);
    const Plan large = collectives::make_plan(
        {{.algorithm = Algorithm::kRing, .count = 64 * count, .codec = Codec::kInt8}, 0, n});
    EXPECT_LE(bytes_of(large), 64 * n * 1536) << n;
  }
}

// A training run needs sums in place.
TEST(Memory, AnAllReduceInPlaceNeedsOneChunkAtMost) {
  for (const std::size_t n : {2, 3, 5, 8, 64}) {
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kDirect, Algorithm::kHalvingDoubling, Algorithm::kTree,
          Algorithm::kTwoLevel, Algorithm::kStar}) {
      const std::vector<std::size_t> hosts(n);
      const std::size_t chunk = 16 * 100;
      PlanRequest request{{.algorithm = algorithm, .count = chunk * n}, 0, n};
      request.hosts = hosts;
      const Plan plan = collectives::make_plan(request);
      const bool adds_elsewhere = algorithm == Algorithm::kDirect && n > 2;
      EXPECT_EQ(plan.scratch_count, adds_elsewhere ? chunk : 0) << to_string(algorithm) << " " << n;
    }
  }
}

TEST(Memory, AHubNeedsRoomForAllAndIsChosenWhereThatIsLittle) {
  for (const std::size_t n : {2, 3, 5, 8, 64}) {
    for (std::size_t rank = 0; rank < n; ++rank) {
      const Plan plan =
          collectives::make_plan({{.algorithm = Algorithm::kHub, .count = 1009}, rank, n});
      EXPECT_EQ(plan.scratch_count, rank == 0 ? (n - 1) * 1009 : 0);
    }
    const std::size_t most = 4 * 1024 / (n - 1);
    EXPECT_EQ(chosen_for(most, {.world_size = n}), Algorithm::kHub);
    EXPECT_NE(chosen_for(most + 1, {.world_size = n}), Algorithm::kHub);
  }
}

TEST(Memory, AReduceWithAnInputNeedsRoomAtRanksThatAddOrScaleWithoutAnOutput) {
  for (const std::size_t n : {2, 3, 8, 13}) {
    for (std::size_t rank = 0; rank < n; ++rank) {
      const std::size_t position = (rank + 1) % n;  // The root is rank n - 1, at position 0.
      for_every_plan(n, rank, [&](const PlanRequest& request, const Plan& plan) {
        if (request.collective != Collective::kReduce) return;
        const bool is_chain = request.algorithm == Algorithm::kChain;
        const bool receives = is_chain ? position != 1 : position % 2 == 0 && position + 1 < n;
        const bool adds_or_scales = receives || request.pre_scales;
        const bool needs_room = !request.in_place && position > 0 && adds_or_scales;
        EXPECT_EQ(plan.scratch_count, needs_room ? request.count : 0)
            << to_string(request.algorithm) << ", rank " << rank << " of " << n;
      });
    }
  }
}

TEST(Memory, ByHostNeedsRoomInOneRankOfEachHostAndIsChosenWhereThatIsLittle) {
  constexpr std::size_t kCount = 4096;
  for (const std::size_t n : {4, 5, 8, 64}) {
    for (const std::size_t ranks_per_host : {2, 3}) {
      std::vector<std::size_t> hosts(n);
      for (std::size_t rank = 0; rank < n; ++rank) hosts[rank] = rank / ranks_per_host;
      for (std::size_t rank = 0; rank < n; ++rank) {
        PlanRequest request{{.algorithm = Algorithm::kByHost, .count = kCount}, rank, n};
        request.hosts = hosts;
        const Plan plan = collectives::make_plan(request);
        EXPECT_LE(plan.scratch_count, rank % ranks_per_host == 0 ? 2 * n * kCount : 0) << rank;
      }
    }
    const std::size_t most = std::min<std::size_t>(64 * 1024, 1024 * 1024 / n);
    const collectives::Surroundings world{.world_size = n, .host_count = n / 2};
    EXPECT_EQ(chosen_for(most, world), Algorithm::kByHost);
    EXPECT_NE(chosen_for(most + 1, world), Algorithm::kByHost);
  }
}

TEST(Memory, TheFrontOfAnArenaIsAsLargeAsThePageSays) {
  for (const std::size_t n : {1, 2, 21, 22, 64, 4096}) {
    EXPECT_EQ(transport::shm::front_bytes(n), base::front_bytes(n)) << "world of " << n;
  }
}

TEST(Memory, ACommunicatorTakesAsLittleHeapAsThePageSays) {
  for (const std::size_t n : {1, 2, 8, 32}) {
    ThreadWorldOptions options;
    options.world_size = n;
    const std::size_t before = ::mallinfo2().uordblks;
    const std::vector<Communicator> world = ThreadWorld::make(options);
    const std::size_t taken = ::mallinfo2().uordblks - before;
    EXPECT_LE(taken / n, base::communicator_bytes(n)) << "world of " << n;
  }
}

TEST(Memory, ACommunicatorTakesNoMoreHeapWhereSomeRanksShareMemory) {
  for (const std::size_t n : {3, 8, 16}) {
    const std::size_t before = ::mallinfo2().uordblks;
    const std::vector<Communicator> world = testing::mixed_world_of(n, {});
    const std::size_t taken = ::mallinfo2().uordblks - before;
    EXPECT_LE(taken / n, base::communicator_bytes(n)) << "world of " << n;
  }
}

// The first connection also allocates the memory that encryption needs once per process.
TEST(Memory, EncryptionTakesAsLittleHeapAsThePageSays) {
  const auth::Credentials own(auth::random_key(), true);
  const std::vector<std::byte> message(40'000);
  std::vector<std::unique_ptr<auth::Talk>> talks;
  const std::size_t before = ::mallinfo2().uordblks;
  for (std::size_t connections = 1; connections <= 8; ++connections) {
    talks.push_back(std::make_unique<auth::Talk>(own, own));
    auth::Talk& talk = *talks.back();
    talk.run();
    ASSERT_EQ(talk.caller.handshake.state(), auth::Handshake::State::kDone);
    auth::Stream* streams[] = {&talk.caller.stream, &talk.answerer.stream};
    for (int i = 0; i < 2; ++i) {
      streams[i]->send(std::span(message).first(72), message);
      talk.pass_on();
      std::vector<std::byte> heard(message.size());
      EXPECT_EQ(streams[1 - i]->receive(heard).bytes, heard.size());
    }
    for (auth::Talk::End* end : {&talk.caller, &talk.answerer}) end->said = auth::Bytes();
    const std::size_t taken = ::mallinfo2().uordblks - before;
    EXPECT_LE(taken, base::encryption_bytes(2 * connections)) << connections << " connections";
  }
}

}  // namespace
}  // namespace rota
