// Tests programs of MPICH on several hosts, which are network namespaces: the ranks' MPI_Init finds
// all of them over the connections of the rotaruns.
#include <signal.h>

#include "hosts/across_hosts.h"
#include "testing/proc.h"

namespace rota::testing {
namespace {

class MpichHosts : public AcrossHosts {
 protected:
  // Starts the program on all hosts. Host 2 has no ranks if `slots` has two hosts.
  std::vector<std::unique_ptr<Process>> start_ranks(const std::vector<std::size_t>& slots,
                                                    std::vector<std::string> arguments) {
    environment_ = {"ROTA_HOSTS=" + hosts(slots)};
    arguments.insert(arguments.begin(), test_path("mpich_rank"));
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < slots.size(); ++host) all.push_back(start(host, arguments));
    return all;
  }

  static void expect_all_end(std::vector<std::unique_ptr<Process>>& all, int exit_code,
                             const std::string& words) {
    for (auto& host : all) {
      const Result result = host->wait();
      EXPECT_EQ(result.exit_code, exit_code) << result.err;
      EXPECT_THAT(result.err, HasSubstr(words));
    }
  }
};

TEST_F(MpichHosts, FindAllRanks) {
  for (const auto& slots : std::vector<std::vector<std::size_t>>{{2, 2}, {3, 1}, {3, 1, 3}}) {
    auto all = start_ranks(slots, {});
    std::size_t world_size = 0;
    for (const std::size_t count : slots) world_size += count;
    const std::string rest = ", sum " + std::to_string(world_size * (world_size + 1) / 2) + "\n";
    std::size_t rank = 0;
    for (std::size_t host = 0; host < slots.size(); ++host) {
      const Result result = all[host]->wait();
      EXPECT_EQ(result.exit_code, 0) << result.err;
      for (std::size_t local = 0; local < slots[host]; ++local, ++rank) {
        EXPECT_THAT(result.out,
                    HasSubstr(std::to_string(rank) + " of " + std::to_string(world_size) + ", " +
                              std::to_string(slots[host]) + " near" + rest));
      }
    }
  }
}

TEST_F(MpichHosts, MayGoAroundTheHosts) {
  environment_ = {"ROTA_HOSTS=" + hosts({2, 2})};
  std::vector<std::unique_ptr<Process>> all;
  for (const std::size_t host : {0U, 1U}) {
    all.push_back(start(host, {"--map-by", "node", "--rank-by", "node", test_path("mpich_rank")}));
  }
  const Result first = all[0]->wait();
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("2 of 4, 2 near, sum 10\n"));
  EXPECT_THAT(all[1]->wait().out, HasSubstr("3 of 4, 2 near, sum 10\n"));
}

TEST_F(MpichHosts, EndWithTheCodeOfAnAbort) {
  for (const char* rank : {"0", "3"}) {
    auto all = start_ranks({2, 2}, {"abort", rank});
    expect_all_end(all, 42, "rank " + std::string(rank) + " (pid ");
  }
}

TEST_F(MpichHosts, EndWithARankThatIsKilled) {
  auto all = start_ranks({1, 1}, {"hang", "1"});
  ASSERT_TRUE(all[1]->wait_for("1 of 2, 1 near, sum 3"));
  for (const pid_t pid : live_descendants()) {
    const std::string environment = proc_file(pid, "environ");
    const bool is_rank_1 = environment.find(std::string("\0PMI_RANK=1\0", 12)) != std::string::npos;
    if (proc_file(pid, "comm") == "mpich_rank\n" && is_rank_1) ::kill(pid, SIGKILL);
  }
  expect_all_end(all, 137, "was killed by SIGKILL");
}

TEST_F(MpichHosts, EndWithARankThatLeaves) {
  auto all = start_ranks({1, 2}, {"leave", "2"});
  expect_all_end(all, 79, "rank 2 (pid ");
}

TEST_F(MpichHosts, EndWithARankThatStaysAway) {
  auto all = start_ranks({1, 2}, {"stay-away", "2"});
  expect_all_end(all, 201, "within 10 s after rank ");
}

TEST_F(MpichHosts, NameWhoIsAbsent) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 2})};
  std::vector<std::unique_ptr<Process>> all;
  for (const std::size_t host : {0U, 1U}) {
    all.push_back(start(host, {"--join-timeout", "4", test_path("mpich_rank"), "stay-away", "2"}));
  }
  expect_all_end(all, 201, "it has not called MPI_Init of an MPI that uses PMI-1 within 4 s");
}

}  // namespace
}  // namespace rota::testing
