// Tests how the nodes of all ranks are written for MPICH. Method: a reader of the format gives the
// nodes back.
#include "launcher/mpi/pmi/process_mapping.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <vector>

namespace rota::launcher {
namespace {

using Nodes = std::vector<std::uint32_t>;

// Returns the nodes of the first `count` ranks. The blocks repeat.
Nodes read_mapping(const std::string& text, std::size_t count) {
  Nodes once;
  for (std::size_t at = text.find(",("); at != std::string::npos; at = text.find(",(", at + 1)) {
    unsigned first = 0;
    unsigned nodes = 0;
    unsigned size = 0;
    EXPECT_EQ(std::sscanf(text.c_str() + at, ",(%u,%u,%u)", &first, &nodes, &size), 3) << text;
    for (unsigned node = first; node < first + nodes; ++node) once.insert(once.end(), size, node);
  }
  Nodes all;
  while (all.size() < count && !once.empty()) all.insert(all.end(), once.begin(), once.end());
  all.resize(count);
  return all;
}

TEST(ProcessMapping, IsShort) {
  EXPECT_EQ(process_mapping_of(Nodes{0, 0}), "(vector,(0,1,2))");
  EXPECT_EQ(process_mapping_of(Nodes{0, 0, 1, 1}), "(vector,(0,2,2))");
  EXPECT_EQ(process_mapping_of(Nodes{0, 0, 0, 1}), "(vector,(0,1,3),(1,1,1))");
  EXPECT_EQ(process_mapping_of(Nodes{0, 1, 0, 1, 0}), "(vector,(0,2,1))");
  EXPECT_EQ(process_mapping_of(Nodes{}), "(vector)");
}

TEST(ProcessMapping, IsRightForAnyPlacement) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    Nodes nodes(1 + random() % 12);
    for (std::uint32_t& node : nodes) node = static_cast<std::uint32_t>(random() % 3);
    const std::string text = process_mapping_of(nodes);
    EXPECT_EQ(read_mapping(text, nodes.size()), nodes) << text;
  }
}

// MPICH reads no value of 1024 bytes or more.
TEST(ProcessMapping, IsShortForManyRanksThatGoAroundTheNodes) {
  Nodes nodes;
  for (std::uint32_t rank = 0; rank < 4096; ++rank) nodes.push_back(rank % 64);
  EXPECT_EQ(process_mapping_of(nodes), "(vector,(0,64,1))");
}

}  // namespace
}  // namespace rota::launcher
