// What the hosts of a ring measure between each other: how far their clocks are apart, and how fast
// each edge is, in the direction in which a ring all-reduce uses it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <rota/communicator.h>

namespace rota::preflight {

// From rank `from` to the next one.
struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  // In seconds: half of the shortest of many round trips of eight bytes. The others waited for a
  // CPU as well.
  double latency = 0;
  double bandwidth = 0;  // Bytes a second.
};

// Which ranks measure their edge at the same time: no rank is at two of these, each edge is
// measured once. Two rounds, or three where the ranks are odd; none for one rank.
std::vector<std::vector<std::size_t>> edge_rounds(std::size_t world_size);

// What each rank gave, by rank.
std::vector<std::string> texts_of_all(Communicator& comm, const std::string& own);

// Rank 0's, on every rank.
std::string hand_out(Communicator& comm, std::string of_rank_0);

// By how many seconds each rank's wall clock is ahead of rank 0's; on rank 0, elsewhere zeros.
std::vector<double> compare_clocks(Communicator& comm);

// The same on every rank, in the time of a few edges however many there are.
std::vector<Edge> measure_edges(Communicator& comm);

}  // namespace rota::preflight
