// `rota-bench overlap` as users run it. It measures what it reports, and gradients sent during the
// backward pass give the same bits as gradients sent after it. Method: two ranks, batches of a few
// images and two steps a round; over shared memory and TCP, and started by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "os/listener.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::bench {
namespace {

using nlohmann::json;
using testing::Command;
using testing::Process;
using testing::Result;
using Arguments = std::vector<std::string>;

constexpr std::size_t kRounds = 2;
constexpr std::size_t kLenetParameters = 832 + 51264 + 1606144 + 5130;

Arguments benchmark(const Arguments& further = {}) {
  Arguments all = {testing::bin_path("rota-bench"),
                   "overlap",
                   "--json",
                   "--rounds",
                   std::to_string(kRounds),
                   "--steps",
                   "2",
                   "--batch-size",
                   "3"};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

void expect_whole(const Result& result, const std::string& transport) {
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream out(result.out);
  std::vector<json> rows;
  for (std::string line; std::getline(out, line);) rows.push_back(json::parse(line));
  ASSERT_EQ(rows.size(), 5u) << result.out;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[i]["transport"], transport);
    EXPECT_EQ(rows[i]["ranks"], 2);
    EXPECT_EQ(rows[i]["batch_size"], 3);
    EXPECT_EQ(rows[i]["steps"], 2);
    EXPECT_EQ(rows[i]["rounds"], kRounds);
    EXPECT_GT(rows[i]["min_seconds"], 0);
    EXPECT_LE(rows[i]["min_seconds"], rows[i]["median_seconds"]);
    EXPECT_LE(rows[i]["median_seconds"], rows[i]["max_seconds"]);
  }
  const json& gain = rows.back();
  EXPECT_GT(gain["times_as_fast"], 0);
  EXPECT_GT(gain["link_bytes_per_second"], 0);
  EXPECT_EQ(gain["buckets"], 3);
  EXPECT_GE(gain["gradient_bytes"], kLenetParameters * sizeof(float));
  EXPECT_LE(gain["gradient_bytes"], kLenetParameters * sizeof(float) + 1024) << "too much padding";
  EXPECT_EQ(gain["overlapped_hash"].get<std::string>().size(), 16u);
  EXPECT_EQ(gain["overlapped_hash"], gain["at_end_hash"]);
}

TEST(Overlap, KeepsTheBitsOverEachTransport) {
  for (const char* transport : {"shm", "tcp"}) {
    Arguments arguments = {"-np", "2", "--transport", transport};
    const Arguments program = benchmark();
    arguments.insert(arguments.end(), program.begin(), program.end());
    expect_whole(testing::run_rotarun(arguments), transport);
  }
}

TEST(Overlap, RunsOnRanksThatWereStartedByHand) {
  std::string addresses;
  {
    const os::Listener first = os::listen_on_loopback();
    const os::Listener second = os::listen_on_loopback();
    addresses = first.address + "," + second.address;
  }  // The listeners are closed, so the ranks can use the addresses.
  Command command;
  command.arguments = benchmark({"--addresses", addresses, "--rank", "1"});
  Process second(command);
  command.arguments.back() = "0";
  Process first(command);
  expect_whole(first.wait(), "shm");  // Both are on this machine.
  const Result result = second.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "") << "only rank 0 prints";
}

}  // namespace
}  // namespace rota::bench
