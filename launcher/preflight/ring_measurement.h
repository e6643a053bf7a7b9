// Measures, between the hosts of a ring, how far their clocks differ, and how fast each edge is in
// the direction in which a ring all-reduce uses it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <rota/communicator.h>

namespace rota::preflight {

// The edge from rank `from` to the next rank.
struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  // In seconds: half of the shortest of many round trips of eight bytes. Longer round trips also
  // waited for a CPU.
  double latency = 0;
  double bandwidth = 0;  // Bytes a second.
};

// Returns the rounds of a measurement: in each round the listed ranks measure the edge to the next
// rank. No rank takes part in two edges of a round, and each edge is measured once. An even number
// of ranks needs two rounds, an odd number needs three rounds, and one rank needs none.
std::vector<std::vector<std::size_t>> edge_rounds(std::size_t world_size);

// Returns the text of each rank, by rank. The call is collective.
std::vector<std::string> texts_of_all(Communicator& comm, const std::string& own);

// Returns the text of rank 0 on every rank. The call is collective.
std::string hand_out(Communicator& comm, std::string of_rank_0);

// Returns by how many seconds each rank's wall clock is ahead of rank 0's. Ranks other than 0 get
// zeros. The call is collective.
std::vector<double> compare_clocks(Communicator& comm);

// Measures all edges, and returns the same on every rank. The call is collective. It takes the time
// of a few edges, whatever the world size.
std::vector<Edge> measure_edges(Communicator& comm);

}  // namespace rota::preflight
