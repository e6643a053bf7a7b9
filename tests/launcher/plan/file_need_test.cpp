// How many files a job has open on a host, and whose limit is too low for it.
#include "launcher/plan/file_need.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

Share share_of_ranks(std::size_t count, std::size_t world_size, std::size_t host_count) {
  return {
      .ranks = std::vector<std::size_t>(count), .world_size = world_size, .host_count = host_count};
}

TEST(FileNeed, GrowsWithTheWorldTheRanksHereAndTheHosts) {
  const FileNeed small = files_needed(share_of_ranks(1, 1, 1), {});
  const FileNeed large = files_needed(share_of_ranks(10, 100, 5), {});
  EXPECT_EQ(large.of_rank - small.of_rank, 99U);
  EXPECT_EQ(large.of_rotarun - small.of_rotarun, 9U * 6 + 4 * 2);
  Options filed;
  filed.output_directory = "logs";
  EXPECT_EQ(files_needed(share_of_ranks(10, 100, 5), filed).of_rotarun - large.of_rotarun, 20U);
}

TEST(FileNeed, HasTheArenasOfAHostBesideConnections) {
  Share share = share_of_ranks(10, 100, 5);
  const FileNeed over_tcp = files_needed(share, {});
  share.transport = "shm+tcp";
  const FileNeed over_both = files_needed(share, {});
  EXPECT_EQ(over_both.of_rank - over_tcp.of_rank, 10U);
  EXPECT_EQ(over_both.of_rotarun - over_tcp.of_rotarun, 10U);
}

// A rank has them all anyway.
TEST(FileNeed, HasTheArenasOfOtherRotarunsRanks) {
  Share share = share_of_ranks(1, 10, 10);
  const FileNeed over_tcp = files_needed(share, {});
  share.arenas.resize(10);
  EXPECT_EQ(files_needed(share, {}).of_rank, over_tcp.of_rank);
  EXPECT_EQ(files_needed(share, {}).of_rotarun - over_tcp.of_rotarun, 10U);
}

TEST(FileNeed, IsHeldAgainstWhatEachMayOpen) {
  const FileNeed need{.of_rank = 100, .of_rotarun = 200};
  EXPECT_EQ(lack_of_files(need, {.soft = 100, .hard = 200}), "");
  EXPECT_EQ(lack_of_files(need, {.soft = 99, .hard = 200}),
            "each rank may open 99 files (ulimit -Sn), and this job takes about 100: raise the "
            "limit");
  EXPECT_EQ(lack_of_files(need, {.soft = 99, .hard = 199}),
            "rotarun may open 199 files (ulimit -Hn), and this job takes about 200: raise the "
            "limit");
  EXPECT_EQ(lack_of_files(need, {.soft = UINT64_MAX, .hard = UINT64_MAX}), "");
}

}  // namespace
}  // namespace rota::launcher
