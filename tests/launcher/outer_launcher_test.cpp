// rotarun under another launcher: each rank of that launcher is a rotarun with one rank, and all
// these ranks make one world.
#include <filesystem>
#include <fstream>
#include <memory>

#include "launcher/launched.h"
#include "testing/key_text.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

class OuterLauncher : public Launched {
 protected:
  // Starts rotarun as torchrun does, with `world_size` ranks on this machine.
  std::unique_ptr<Process> start(std::size_t rank, std::size_t world_size,
                                 std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--ports", ports_.range()});
    testing::Command command = rotarun(std::move(arguments));
    command.environment = {"RANK=" + std::to_string(rank),
                           "WORLD_SIZE=" + std::to_string(world_size),
                           "LOCAL_RANK=" + std::to_string(rank),
                           "LOCAL_WORLD_SIZE=" + std::to_string(world_size),
                           "GROUP_WORLD_SIZE=1",
                           "MASTER_ADDR=127.0.0.1",
                           "MASTER_PORT=" + ports_.first(),
                           "TORCHELASTIC_RESTART_COUNT=0",
                           "CUDA_VISIBLE_DEVICES=4,5,6"};
    return std::make_unique<Process>(std::move(command));
  }

  std::vector<std::unique_ptr<Process>> start_all(std::size_t world_size,
                                                  const std::vector<std::string>& arguments) const {
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      all.push_back(start(rank, world_size, arguments));
    }
    return all;
  }

  const testing::OwnPorts ports_;
};

TEST_F(OuterLauncher, HasAWorldOfAllItsRotaruns) {
  auto all = start_all(3, {"--insecure", kSum});
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Result result = all[rank]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "rank " + std::to_string(rank) + " of 3 by torchrun: 6\n");
  }
}

TEST_F(OuterLauncher, WithAKeyNeedsNoPermission) {
  const std::string key = folder_ + "/key";
  std::ofstream(key) << testing::key_text('k');
  std::filesystem::permissions(key, std::filesystem::perms::owner_read);
  auto all = start_all(2, {"--key-file", key, "-np", "2", kSum});
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
}

TEST_F(OuterLauncher, HasRanksWithTheirPlaceOnTheMachine) {
  auto all = start_all(
      3, script({"--insecure"},
                "echo $ROTA_RANK/$ROTA_WORLD_SIZE $ROTA_LOCAL_RANK/$ROTA_LOCAL_WORLD_SIZE "
                "$LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK/$GROUP_WORLD_SIZE "
                "$CUDA_VISIBLE_DEVICES ${TORCHELASTIC_RESTART_COUNT-none}"));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string own = std::to_string(rank) + "/3 ";
    EXPECT_EQ(all[rank]->wait().out,
              own + own + own + "0/1 " + std::to_string(4 + rank) + " none\n");
    EXPECT_EQ(all[rank]->err(), "");
  }
}

TEST_F(OuterLauncher, HasRanksBoundToCoresOfTheirOwn) {
  auto all = start_all(2, {"--insecure", "--bind-to", "core", "--report-bindings", "true"});
  std::vector<std::string> cores;
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    cores.push_back(each->err().substr(each->err().find("bound to")));
  }
  const Result alone = run_rotarun(
      {"-np", "2", "--oversubscribe", "--bind-to", "core", "--report-bindings", "true"});
  for (const std::string& core : cores) EXPECT_THAT(alone.err, HasSubstr(core));
  const bool are_two = alone.err.find(cores[0]) != alone.err.rfind(cores[0]);
  EXPECT_EQ(cores[0] == cores[1], are_two);
}

TEST_F(OuterLauncher, EndsAllRotarunsWithTheFirstFailure) {
  auto all = start_all(3, script({"--insecure"}, "[ $ROTA_RANK != 1 ] || exit 7; sleep 1000"));
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 7);
    EXPECT_THAT(each->err(), HasSubstr("rank 1 (pid "));
    EXPECT_THAT(each->err(), HasSubstr("exited with code 7"));
  }
}

TEST_F(OuterLauncher, IsWaitedFor) {
  auto first = start(0, 2, {"--insecure", "--join-timeout", "0.3", "echo", "started"});
  const Result result = first->wait();
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("1 of 2 hosts: host 1"));
}

// However few ports the ranks get, none of them is the port where launchers meet.
TEST_F(OuterLauncher, MeetsBesideProgramsThatListenWhereTheyAreTold) {
  for (const unsigned port_count : {5U, 6U}) {
    Process beside(rotarun({"-np", "4", "--oversubscribe", "--ports", ports_.range(port_count),
                            test_path("member"), "listen"}));
    for (unsigned rank = 0; rank < 4; ++rank) {
      const std::string line = "rank " + std::to_string(rank) + " listens at ";
      EXPECT_TRUE(beside.wait_for(line)) << beside.err();
      const unsigned count = port_count - 5 + (rank == 0 ? 1 : 0);
      EXPECT_THAT(beside.out(), HasSubstr(line + std::to_string(count)));
    }
    auto all = start_all(2, {"--insecure", kSum});
    for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    beside.signal(SIGTERM);
    EXPECT_EQ(beside.wait().exit_code, 143) << beside.err();
  }
}

// Method: the options let mpirun also run as root, and with more ranks than cores.
TEST_F(OuterLauncher, MayBeOpenMpi) {
  const std::string mpirun = "/usr/bin/mpirun";
  if (!std::filesystem::exists(mpirun)) GTEST_SKIP() << "mpirun is not installed";
  const Result result =
      run({.arguments = {mpirun, "--allow-run-as-root", "--oversubscribe", "-np", "3",
                         testing::rotarun_path(), "--insecure", "--ports", ports_.range(), kSum}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const std::string rank : {"0", "1", "2"}) {
    EXPECT_THAT(result.out, HasSubstr("rank " + rank + " of 3 by Open MPI: 6\n"));
  }
}

}  // namespace
}  // namespace rota::launcher
