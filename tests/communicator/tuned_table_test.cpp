// Tests the format of tuned files, the plans that they choose, and the messages about files that
// are refused.
#include "communicator/tuned_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <rota/error.h>

namespace rota {
namespace {

using collectives::Algorithm;
using ::testing::ElementsAre;

constexpr const char* kWhole =
    "# A comment.\n"
    "rota-tuned 1   # Another one.\r\n"
    "\n"
    "  transport\ttcp encrypted\n"
    "hosts 0,2 1,3-4\n"
    "all-reduce 0 hub\n"
    "all-reduce 4096 halving-doubling\n"
    "all-reduce 1048576 ring";

std::string refusal_of(const std::string& text) {
  try {
    parse_tuned("f", text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(TunedTable, HasATopologyAndPlans) {
  const TunedTable table = parse_tuned("f", kWhole);
  EXPECT_EQ(table.topology.transport, "tcp");
  EXPECT_TRUE(table.topology.encrypts);
  EXPECT_THAT(table.topology.hosts, ElementsAre(0, 1, 0, 1, 1));
  EXPECT_EQ(table.all_reduce.size(), 3u);
}

TEST(TunedTable, ChoosesFromSoManyBytesOn) {
  const TunedTable table = parse_tuned("f", kWhole);
  EXPECT_EQ(tuned_all_reduce(table, 0), Algorithm::kHub);
  EXPECT_EQ(tuned_all_reduce(table, 4095), Algorithm::kHub);
  EXPECT_EQ(tuned_all_reduce(table, 4096), Algorithm::kHalvingDoubling);
  EXPECT_EQ(tuned_all_reduce(table, 1048575), Algorithm::kHalvingDoubling);
  EXPECT_EQ(tuned_all_reduce(table, 1048576), Algorithm::kRing);
  EXPECT_EQ(tuned_all_reduce(table, std::size_t{0} - 1), Algorithm::kRing);
}

TEST(TunedTable, ComesOutAsItWentIn) {
  const TunedTable table = parse_tuned("f", kWhole);
  EXPECT_EQ(parse_tuned("f", to_text(table)), table);
  EXPECT_EQ(to_text(table),
            "rota-tuned 1\ntransport tcp encrypted\nhosts 0,2 1,3-4\nall-reduce 0 hub\n"
            "all-reduce 4096 halving-doubling\nall-reduce 1048576 ring\n");
}

TEST(TunedTable, RefusesWhatMakesNoSenseAndNamesTheLine) {
  const std::string head = "rota-tuned 1\n";
  const std::string world = head + "transport shm\nhosts 0-1\n";
  const std::pair<std::string, std::string> rows[] = {
      {"", "line 1: it does not begin with 'rota-tuned 1'"},
      {"# Nothing.\n\n", "line 3: it does not begin with 'rota-tuned 1'"},
      {"transport shm\n", "line 1: it does not begin with 'rota-tuned 1'"},
      {"rota-tuned 2\n", "line 1: its format is '2', but this rota knows format 1: tune again"},
      {head + "speed 9\n", "line 2: 'speed' is none of transport, hosts and all-reduce"},
      {head + "transport udp\n",
       "line 2: after 'transport' one of shm, tcp, tcp encrypted, mpi, shm+tcp, shm+tcp encrypted "
       "is needed"},
      {head + "transport shm encrypted\n",
       "line 2: after 'transport' one of shm, tcp, tcp encrypted, mpi, shm+tcp, shm+tcp encrypted "
       "is needed"},
      {world + "transport shm\n", "line 4: it is a second line 'transport'"},
      {world + "hosts 0-1\n", "line 4: it is a second line 'hosts'"},
      {head + "hosts\n", "line 2: the ranks of each host are needed, such as 'hosts 0-1 2-3'"},
      {head + "hosts 0 2\n", "line 2: rank 1 is on no host"},
      {head + "hosts 0-1 1\n", "line 2: rank 1 appears twice"},
      {head + "hosts 0-4095,7-9,0-4095\n", "line 2: rank 7 appears twice"},
      {head + "hosts 3-1\n", "line 2: '3-1' ends before it begins"},
      {head + "hosts ,\n", "line 2: ',' has no rank"},
      {head + "hosts 0-4096\n",
       "line 2: a number is '4096': a whole number from 0 to 4095 is needed"},
      {world + "all-reduce 0\n", "line 4: 'all-reduce BYTES PLAN' is needed"},
      {world + "all-reduce -1 ring\n",
       "line 4: a number is '-1': a whole number from 0 to 18446744073709551615 is needed"},
      {world + "all-reduce 0 chain\n", "line 4: no all-reduce has the plan 'chain'"},
      {world + "all-reduce 0 r\1ng\n", "line 4: no all-reduce has the plan 'r?ng'"},
      {world + "all-reduce 0 ring\nall-reduce 64 mpi\n",
       "line 5: the plan 'mpi' is of another library: ask for it in CommunicatorOptions::plan"},
      {head + "transport mpi\nhosts 0-1\nall-reduce 0 nccl\n",
       "line 4: the plan 'nccl' is of another library: ask for it in CommunicatorOptions::plan"},
      {head + "transport tcp\nhosts 0-1\nall-reduce 0 shared-memory\n",
       "line 4: the plan 'shared-memory' works only over the transport shm"},
      {world + "all-reduce 4 ring\n", "line 4: the first line 'all-reduce' must start at 0 bytes"},
      {world + "all-reduce 0 ring\nall-reduce 0 hub\n",
       "line 5: the bytes of the lines 'all-reduce' must ascend"},
      {world, "line 4: it has no line 'all-reduce 0 PLAN'"},
      {head + "hosts 0-1\nall-reduce 0 ring\n", "line 4: it has no line 'transport'"},
      {head + "transport shm\nall-reduce 0 ring\n", "line 4: it has no line 'hosts'"},
  };
  for (const auto& [text, words] : rows) {
    EXPECT_EQ(refusal_of(text), "the tuned file f, " + words) << text;
  }
}

TEST(Topology, IsSaidByTheRanksOfEachHost) {
  RankTable table;
  table.transport = "tcp";
  for (const char* host : {"a", "b", "a", "b", "b"}) table.rows.push_back({.host = host});
  EXPECT_EQ(to_text(topology_of(table, true)), "5 ranks on 2 hosts (0,2 1,3-4) over encrypted tcp");
  table.rows.resize(1);
  table.transport = "shm";
  EXPECT_EQ(to_text(topology_of(table, true)), "1 rank on 1 host (0) over shm");
}

}  // namespace
}  // namespace rota
