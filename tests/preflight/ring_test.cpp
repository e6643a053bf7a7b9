// An edge of the ring leads from a rank to the next rank. In each round of the measurement, a rank
// takes part in at most one edge. Ranks that are threads measure their edges.
#include "launcher/preflight/ring_measurement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <thread>

namespace rota::preflight {
namespace {

TEST(EdgeRounds, HaveEachEdgeOnceAndNoRankTwiceInOne) {
  for (std::size_t world_size = 0; world_size < 20; ++world_size) {
    std::set<std::size_t> measured;
    for (const auto& senders : edge_rounds(world_size)) {
      std::set<std::size_t> busy;
      for (const std::size_t rank : senders) {
        EXPECT_TRUE(measured.insert(rank).second);
        EXPECT_TRUE(busy.insert(rank).second) << rank << " of " << world_size;
        EXPECT_TRUE(busy.insert((rank + 1) % world_size).second) << rank << " of " << world_size;
      }
    }
    EXPECT_EQ(measured.size(), world_size < 2 ? 0 : world_size);
    EXPECT_LE(edge_rounds(world_size).size(), 3U);
  }
}

void on_threads(std::size_t count, const std::function<void(Communicator& comm)>& act) {
  std::vector<Communicator> comms = Communicator::for_threads(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (Communicator& comm : comms) threads.emplace_back([&] { act(comm); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Ring, TellsEverybodyWhatEachHasSaid) {
  for (const std::size_t count : {1, 3}) {
    on_threads(count, [&](Communicator& comm) {
      const std::string own(comm.rank() * 1000, static_cast<char>('a' + comm.rank()));
      const std::vector<std::string> texts = texts_of_all(comm, own);
      ASSERT_EQ(texts.size(), count);
      for (std::size_t rank = 0; rank < count; ++rank) {
        EXPECT_EQ(texts[rank], std::string(rank * 1000, static_cast<char>('a' + rank)));
      }
    });
  }
}

TEST(Ring, HandsOutWhatRank0Has) {
  for (const std::string text : {"", "10 why"}) {
    on_threads(3, [&](Communicator& comm) {
      EXPECT_EQ(hand_out(comm, comm.rank() == 0 ? text : "mine"), text);
    });
  }
}

// All threads have the same clock.
TEST(Ring, FindsClocksThatGoAlike) {
  on_threads(3, [](Communicator& comm) {
    const std::vector<double> ahead = compare_clocks(comm);
    ASSERT_EQ(ahead.size(), 3U);
    for (const double seconds : ahead) EXPECT_LT(std::abs(seconds), 1);
  });
}

TEST(Ring, MeasuresEveryEdgeAndAllKnowIt) {
  for (const std::size_t count : {2, 3}) {
    std::vector<std::vector<Edge>> measured(count);
    on_threads(count, [&](Communicator& comm) { measured[comm.rank()] = measure_edges(comm); });
    ASSERT_EQ(measured[0].size(), count);
    for (std::size_t rank = 0; rank < count; ++rank) {
      const Edge& edge = measured[0][rank];
      EXPECT_EQ(edge.from, rank);
      EXPECT_EQ(edge.to, (rank + 1) % count);
      EXPECT_GT(edge.latency, 0);
      EXPECT_LT(edge.latency, 1);
      EXPECT_GT(edge.bandwidth, 1e6);
      for (const auto& others : measured) EXPECT_EQ(others[rank].bandwidth, edge.bandwidth);
    }
  }
}

TEST(Ring, OfOneRankHasNoEdges) {
  on_threads(1, [](Communicator& comm) {
    EXPECT_TRUE(measure_edges(comm).empty());
    EXPECT_EQ(compare_clocks(comm), std::vector<double>{0});
  });
}

}  // namespace
}  // namespace rota::preflight
