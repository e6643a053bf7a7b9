// With --gather-output, host 0 shows the output of the ranks on all hosts, tags it and writes it to
// files. No other host does this.
#include <csignal>

#include <chrono>
#include <fstream>
#include <thread>

#include "hosts/across_hosts.h"
#include "os/pipe.h"

namespace rota::testing {
namespace {

class GatherOutput : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (network_) environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 1})};
  }

  // Starts the same command on all hosts; host 0 writes into a pipe.
  std::vector<std::unique_ptr<Process>> start_into(os::Fd write_end,
                                                   const std::vector<std::string>& arguments) {
    Command command = rotarun(arguments);
    command.environment = environment_;
    command.environment.push_back("ROTA_KEY_FILE=" + key_file_);
    command.standard_output = write_end.get();
    std::vector<std::unique_ptr<Process>> all;
    all.push_back(std::make_unique<Process>(network_->on(0, std::move(command))));
    for (const std::size_t host : {1U, 2U}) all.push_back(start(host, arguments));
    return all;
  }

  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(GatherOutput, ShowsAllWhereHost0Is) {
  auto all = start_all({"--gather-output", "--tag-output", "/bin/sh", "-c",
                        "echo out $ROTA_RANK; echo err $ROTA_RANK >&2; printf 'no end'"});
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  for (const char* rank : {"0", "1", "2", "3"}) {
    const std::string tag = "[rank " + std::string(rank) + "] ";
    EXPECT_THAT(all[0]->out(), HasSubstr(tag + "out " + rank + "\n"));
    EXPECT_THAT(all[0]->out(), HasSubstr(tag + "no end")) << all[0]->out();
    EXPECT_THAT(all[0]->err(), HasSubstr(tag + "err " + rank + "\n"));
  }
  for (const std::size_t host : {1U, 2U}) {
    EXPECT_EQ(all[host]->out(), "");
    EXPECT_EQ(all[host]->err(), "");
  }
}

TEST_F(GatherOutput, IsHost0sDecision) {
  std::vector<std::unique_ptr<Process>> all;
  all.push_back(start(0, {"/bin/sh", "-c", "echo $ROTA_RANK"}));
  for (const std::size_t host : {1U, 2U}) {
    all.push_back(start(host, {"--gather-output", "/bin/sh", "-c", "echo $ROTA_RANK"}));
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_EQ(all[1]->out(), "2\n");
  EXPECT_EQ(all[2]->out(), "3\n");
}

// Method: host 0's reader closes the pipe, and host 0's rank does not write any more.
TEST_F(GatherOutput, LeavesOthersToTheirOwnReadersWhereItIsNotAskedFor) {
  auto [read_end, write_end] = os::make_pipe();
  const auto all = start_into(
      std::move(write_end),
      {"/bin/sh", "-c",
       "[ $ROTA_RANK = 1 ] || echo first; sleep 1; [ $ROTA_RANK -lt 2 ] || echo second"});
  read_end.reset();
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_EQ(all[2]->out(), "first\nsecond\n");
}

// Method: all hosts here have the same files, those of this machine. So if another host also wrote
// files, the test would see them.
TEST_F(GatherOutput, MakesFilesWhereHost0Is) {
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) {
    all.push_back(start(
        host, {"--gather-output", "--output-filename", folder_ + "/host" + std::to_string(host),
               "/bin/sh", "-c", "echo out $ROTA_RANK; echo err $ROTA_RANK >&2"}));
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_THAT(all[0]->out(), HasSubstr("out 3\n"));
  EXPECT_EQ(read(folder_ + "/host0/rank.3/stdout"), "out 3\n");
  EXPECT_EQ(read(folder_ + "/host0/rank.3/stderr"), "err 3\n");
  EXPECT_EQ(read(folder_ + "/host0/rank.0/stdout"), "out 0\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/host1"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/host2"));
}

TEST_F(GatherOutput, QuotesTheLastWordsOfARankThatFailsElsewhere) {
  auto all = start_all({"--gather-output", "/bin/sh", "-c",
                        "[ $ROTA_RANK = 3 ] && { echo last words >&2; exit 7; }; exec sleep 1000"});
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 7) << each->err();
    EXPECT_THAT(each->err(), HasSubstr("rotarun:   last words\n"));
  }
}

// Method: host 2 sends 40 MB, and nobody reads for two seconds. Unread output waits in the rank,
// which cannot have written all of it by then. It does not wait in the memory of the launchers.
TEST_F(GatherOutput, WaitsForASlowReader) {
  auto [read_end, write_end] = os::make_pipe();
  const auto all = start_into(std::move(write_end),
                              {"--gather-output", "/bin/sh", "-c",
                               "[ $ROTA_RANK = 3 ] || exit 0; echo writes >&2; "
                               "yes 0123456789abcdef | head -n 2500000; echo wrote all >&2"});
  EXPECT_TRUE(all[0]->wait_for("writes"));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_THAT(all[0]->err(), Not(HasSubstr("wrote all")));
  std::size_t count = 0;
  std::vector<char> bytes(1 << 16);
  for (;;) {
    const os::ReadResult result = os::read_available(read_end.get(), bytes);
    if (result.io == os::Io::kClosed) break;
    count += result.count;
    if (result.io == os::Io::kWouldBlock) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_EQ(count, 2'500'000U * 17);
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
  EXPECT_THAT(all[0]->err(), HasSubstr("wrote all"));
}

// If nobody reads the output of a rank any more, the rank ends, as in a pipeline on one host.
TEST_F(GatherOutput, EndsWhoWritesWhereNobodyReadsAnyMore) {
  auto [read_end, write_end] = os::make_pipe();
  const auto all = start_into(std::move(write_end), {"--gather-output", "/bin/sh", "-c",
                                                     "[ $ROTA_RANK != 3 ] || exec yes"});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  read_end.reset();
  for (const auto& each : all) {
    EXPECT_EQ(each->wait().exit_code, 128 + SIGPIPE) << each->err();
  }
}

}  // namespace
}  // namespace rota::testing
