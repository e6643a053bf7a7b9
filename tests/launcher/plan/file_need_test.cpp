// Tests how many descriptors a job needs on a host, and which process has a limit that is too low.
#include "launcher/plan/file_need.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

HostAssignment assignment_of_ranks(std::size_t count, std::size_t world_size,
                                   std::size_t host_count) {
  return {
      .ranks = std::vector<std::size_t>(count), .world_size = world_size, .host_count = host_count};
}

TEST(FileNeed, GrowsWithTheWorldTheRanksHereAndTheHosts) {
  const FileNeed small = files_needed(assignment_of_ranks(1, 1, 1), {});
  const FileNeed large = files_needed(assignment_of_ranks(10, 100, 5), {});
  EXPECT_EQ(large.of_rank - small.of_rank, 99U);
  EXPECT_EQ(large.of_rotarun - small.of_rotarun, 9U * 6 + 4 * 2);
  Options filed;
  filed.output_directory = "logs";
  EXPECT_EQ(files_needed(assignment_of_ranks(10, 100, 5), filed).of_rotarun - large.of_rotarun,
            20U);
}

TEST(FileNeed, HasTheArenasOfAHostBesideConnections) {
  HostAssignment assignment = assignment_of_ranks(10, 100, 5);
  const FileNeed over_tcp = files_needed(assignment, {});
  assignment.transport = "shm+tcp";
  const FileNeed over_both = files_needed(assignment, {});
  EXPECT_EQ(over_both.of_rank - over_tcp.of_rank, 10U);
  EXPECT_EQ(over_both.of_rotarun - over_tcp.of_rotarun, 10U);
}

// A rank has one file for each other rank, a socket or an arena. So the arenas of other rotaruns'
// ranks do not change how many files a rank needs, only how many rotarun needs.
TEST(FileNeed, HasTheArenasOfOtherRotarunsRanks) {
  HostAssignment assignment = assignment_of_ranks(1, 10, 10);
  const FileNeed over_tcp = files_needed(assignment, {});
  assignment.arenas.resize(10);
  EXPECT_EQ(files_needed(assignment, {}).of_rank, over_tcp.of_rank);
  EXPECT_EQ(files_needed(assignment, {}).of_rotarun - over_tcp.of_rotarun, 10U);
}

TEST(FileNeed, IsHeldAgainstWhatEachMayOpen) {
  const FileNeed need{.of_rank = 100, .of_rotarun = 200};
  EXPECT_EQ(lack_of_files(need, {.soft = 100, .hard = 200}), "");
  EXPECT_EQ(lack_of_files(need, {.soft = 99, .hard = 200}),
            "each rank may open 99 files (ulimit -Sn), but this job needs about 100: raise the "
            "limit");
  EXPECT_EQ(lack_of_files(need, {.soft = 99, .hard = 199}),
            "rotarun may open 199 files (ulimit -Hn), but this job needs about 200: raise the "
            "limit");
  EXPECT_EQ(lack_of_files(need, {.soft = UINT64_MAX, .hard = UINT64_MAX}), "");
}

}  // namespace
}  // namespace rota::launcher
