// Tests the environment of ranks of the real rotarun. Programs that use rota read only the ROTA_*
// variables of rotarun. A rotarun that a rank starts ignores all these variables.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "launcher/launched.h"
#include "os/host.h"
#include "os/listener.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

class Provision : public Launched {
 protected:
  static Result run_with(std::vector<std::string> environment, std::vector<std::string> arguments) {
    testing::Command command = rotarun(std::move(arguments));
    command.environment = std::move(environment);
    return run(std::move(command));
  }
};

const std::string kMember = test_path("member");

TEST_F(Provision, TellsStrangersInTheWordsOfTheirLaunchers) {
  const Result result =
      run_rotarun({"-np", "2", "--oversubscribe", "--ports", "61200-61299", kMember, "tell"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = sorted_lines(result.out);
  ASSERT_EQ(lines.size(), 2U);
  const std::string of_openmpi = " OMPI 0 2 0 2 0 2 TF ";
  EXPECT_THAT(lines[0], StartsWith("torch 0 2 0 2 0 127.0.0.1 612"));
  EXPECT_THAT(lines[0], HasSubstr(of_openmpi));
  EXPECT_THAT(lines[1], StartsWith("torch 1 2 1 2 0 127.0.0.1 612"));
  EXPECT_THAT(lines[0], HasSubstr(R"(TF {"cluster":{"worker":["127.0.0.1:612)"));
  EXPECT_THAT(lines[0], EndsWith(R"(]},"task":{"type":"worker","index":0}})"));
  EXPECT_THAT(lines[1], EndsWith(R"(]},"task":{"type":"worker","index":1}})"));
}

// These ranks have variables of other launchers, and those that rotarun sets for other frameworks.
// They must ignore both.
TEST_F(Provision, LeavesRanksOfRotasOwnToRotarun) {
  EXPECT_EQ(run_rotarun({"-np", "3", kMember, "check"}).exit_code, 0);
  const std::vector<std::string> environment = {
      R"(TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":1}})",
      "RANK=7",
      "WORLD_SIZE=9",
      "LOCAL_RANK=7",
      "OMPI_COMM_WORLD_RANK=5",
      "PMIX_RANK=5"};
  testing::Command command = rotarun({"--this-host", "-np", "2", kSum});
  command.environment = environment;
  const Result result = run(command);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(sorted_lines(result.out),
              ElementsAre("rank 0 of 2 by rotarun -np 2: 3", "rank 1 of 2 by rotarun -np 2: 3"));
}

TEST_F(Provision, MakesARotarunAmongTheRanksStartAWorldOfItsOwn) {
  const Result result =
      run_rotarun({"-np", "2", testing::rotarun_path(), "-np", "2", "--oversubscribe", kSum});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(sorted_lines(result.out),
              ElementsAre("rank 0 of 2 by rotarun -np 2: 3", "rank 0 of 2 by rotarun -np 2: 3",
                          "rank 1 of 2 by rotarun -np 2: 3", "rank 1 of 2 by rotarun -np 2: 3"));
  const Result explained =
      run_rotarun({"-np", "1", testing::rotarun_path(), "-np", "2", "--explain", "true"});
  EXPECT_EQ(explained.exit_code, 0);
  EXPECT_THAT(explained.out, HasSubstr("decided by this host"));
  EXPECT_THAT(explained.out, HasSubstr("nothing else says anything"));
}

TEST_F(Provision, GivesThreadsWhereNobodyHasSaid) {
  const auto threads_with = [](std::vector<std::string> environment,
                               std::vector<std::string> options) {
    return run_with(std::move(environment), script(std::move(options), "echo $OMP_NUM_THREADS"))
        .out;
  };
  const std::size_t count = os::allowed_cpus().size();
  if (!std::getenv("OMP_NUM_THREADS")) {
    EXPECT_EQ(threads_with({}, {"--cpus-per-rank", "1", "-np", "1"}), "1\n");
    const std::string many = std::to_string(count + 1);
    EXPECT_THAT(threads_with({}, {"-np", many}), StartsWith("1\n1\n"));
  }
  EXPECT_EQ(threads_with({"OMP_NUM_THREADS=3"}, {"-np", "1"}), "3\n");
  EXPECT_EQ(threads_with({}, {"-np", "1", "-x", "OMP_NUM_THREADS=4"}), "4\n");
}

TEST_F(Provision, GivesEachRankADeviceOrAllOfThem) {
  const auto devices_with = [](const std::string& count, std::vector<std::string> more = {}) {
    std::vector<std::string> options = {"--oversubscribe", "-np", count};
    options.insert(options.end(), more.begin(), more.end());
    return run_with({"CUDA_VISIBLE_DEVICES=3,GPU-5"},
                    script(options, "echo $ROTA_LOCAL_RANK $CUDA_VISIBLE_DEVICES"));
  };
  EXPECT_THAT(sorted_lines(devices_with("2").out), ElementsAre("0 3", "1 GPU-5"));
  EXPECT_EQ(devices_with("2").err, "");
  EXPECT_EQ(devices_with("1").out, "0 3\n");
  const Result shared = devices_with("3");
  EXPECT_THAT(sorted_lines(shared.out), ElementsAre("0 3,GPU-5", "1 3,GPU-5", "2 3,GPU-5"));
  EXPECT_EQ(shared.err,
            "rotarun: warning: 3 ranks for 2 CUDA devices: every rank sees all devices\n");
  EXPECT_EQ(devices_with("3", {"--share-devices"}).err, "");
  EXPECT_EQ(devices_with("1", {"-x", "CUDA_VISIBLE_DEVICES"}).out, "0 3,GPU-5\n");
  EXPECT_EQ(devices_with("1", {"-x", "CUDA_VISIBLE_DEVICES=1,2"}).out, "0 1,2\n");
}

// Returns a range of `count` ports. Ranks do not get the first port.
std::string range_of(std::uint16_t first, int count) {
  return std::to_string(first) + "-" + std::to_string(first + count - 1);
}

std::string lack_of_ports(const std::string& range, const std::string& what) {
  return "rotarun: warning: of the ports " + range + " (--ports or ROTA_PORTS), " + what +
         "; give a wider range\n";
}

TEST_F(Provision, GivesPortsThatAreFree) {
  const testing::OwnPorts own;
  const std::uint16_t first = own.number_of_port(1);  // The test itself claims port 0.
  const auto port = static_cast<std::uint16_t>(first + 1);
  const std::string only = range_of(first, 2);
  const std::vector<std::string> arguments =
      script({"-np", "1", "--ports", only}, "echo .$MASTER_PORT");
  EXPECT_EQ(run_rotarun(arguments).out, "." + std::to_string(port) + "\n");
  const std::string words = lack_of_ports(
      only,
      "0 are free besides the first, at which the launcher listens; 1 rank needs 2 for "
      "MASTER_PORT and TF_CONFIG: both are left out");
  {
    const auto claim = os::claim_port(port);  // Like another rotarun's claim.
    ASSERT_TRUE(claim);
    EXPECT_FALSE(os::claim_port(port));
    const Result result = run_rotarun(arguments);
    EXPECT_EQ(result.out, ".\n");
    EXPECT_EQ(result.err, words);
  }
  {
    const os::Listener listener = os::listen_at("127.0.0.1:" + std::to_string(port));
    EXPECT_EQ(run_rotarun(arguments).err, words);
  }
  EXPECT_EQ(run_with({"ROTA_PORTS=" + only}, script({"-np", "1"}, "echo $MASTER_PORT")).out,
            std::to_string(port) + "\n");
}

TEST_F(Provision, LeavesTheListOutWhereThereAreTooFewPorts) {
  const testing::OwnPorts own;
  const std::uint16_t first = own.number_of_port(1);  // The test itself claims port 0.
  const auto told_with = [&](int port_count) {
    const std::string ports = range_of(first, port_count);
    return run_rotarun(script({"-np", "2", "--oversubscribe", "--ports", ports},
                              "echo $MASTER_PORT.${TF_CONFIG:+listed}"));
  };
  const auto lines_of = [&](int port, const std::string& list) {
    const std::string line = std::to_string(first + port) + "." + list + "\n";
    return line + line;
  };
  for (const int port_count : {2, 3}) {
    const Result result = told_with(port_count);
    EXPECT_EQ(result.out, lines_of(port_count - 1, ""));
    const std::string what = port_count == 2 ? "1 is free" : "2 are free";
    EXPECT_EQ(result.err,
              lack_of_ports(
                  range_of(first, port_count),
                  what + " besides the first, at which the launcher listens; 2 ranks need 3 for "
                         "MASTER_PORT and TF_CONFIG: TF_CONFIG is left out"));
  }
  EXPECT_EQ(told_with(4).out, lines_of(1, "listed"));
  EXPECT_EQ(told_with(4).err, "");
}

// Two jobs run at the same time, and no rank listens yet.
TEST_F(Provision, GivesTwoJobsDifferentPorts) {
  const std::vector<std::string> options = {"-np", "1", "--ports", "61200-61299"};
  Process first(rotarun(script(options, "echo port $MASTER_PORT.; exec sleep 60")));
  ASSERT_TRUE(first.wait_for("."));
  const Result second = run_rotarun(script(options, "echo port $MASTER_PORT."));
  EXPECT_THAT(second.out, StartsWith("port 612"));
  EXPECT_NE(second.out, first.out());
  first.signal(SIGTERM);
  first.wait();
}

TEST_F(Provision, ReportsBindings) {
  const std::string host = os::host_name();
  const std::string cpu = std::to_string(os::allowed_cpus().front());
  EXPECT_EQ(run_rotarun({"-np", "1", "--report-bindings", "true"}).err,
            "rotarun: rank 0 on " + host + ": not bound\n");
  const Result bound = run_rotarun(
      {"-np", "1", "--report-bindings", "--bind-to", "core", "--cpus-per-rank", "1", "true"});
  EXPECT_EQ(bound.err, "rotarun: rank 0 on " + host + ": bound to CPU " + cpu + "\n");
}

TEST_F(Provision, WarnsOfMoreRanksThanSlotsUnlessTheyAreMeant) {
  const auto count = os::allowed_cpus().size() + 1;
  const Result result = run_rotarun({"-np", std::to_string(count), "true"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, StartsWith("rotarun: warning: " + std::to_string(count) + " ranks for "));
  EXPECT_EQ(run_rotarun({"-np", std::to_string(count), "--oversubscribe", "true"}).err, "");
}

TEST_F(Provision, RefusesWhatThisHostHasNoRoomFor) {
  Result result = run_rotarun({"--cpus-per-rank", "4096", "true"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--cpus-per-rank 4096: this host has fewer CPUs for ranks: "));
  result = run_rotarun({"-np", "3", "--map-by", "ppr:2:node", "true"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--np is 3, but --map-by ppr:2:node makes 2 ranks on 1 host"));
  EXPECT_EQ(run_rotarun({"--map-by", "ppr:2:node", "echo", "rank"}).out, "rank\nrank\n");
}

}  // namespace
}  // namespace rota::launcher
