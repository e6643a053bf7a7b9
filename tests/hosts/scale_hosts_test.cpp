// `rota-bench scale` on 32 ranks of 8 hosts, and real steps on two hosts: the row describes the
// job, and the sums are right, which the program checks. Method: one round of one short step. No
// test judges the times.
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class ScaleHostsTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!IsSkipped()) network_ = std::make_unique<Network>(8);
  }

  // Waits for all launchers, and returns the row. Only rank 0 prints one.
  static nlohmann::json row_of(const std::vector<std::unique_ptr<Process>>& all) {
    std::string out;
    for (const auto& each : all) {
      const Result result = each->wait();
      EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
      out += result.out;
    }
    return nlohmann::json::parse(out);
  }
};

TEST_F(ScaleHostsTest, CountsTheHostsOfTheJob) {
  environment_ = {"ROTA_HOSTS=" + hosts(std::vector<std::size_t>(8, 4))};
  const auto all = start_all({"--deadline", "30", bin_path("rota-bench"), "scale", "--model", "mlp",
                              "--batch-size", "10", "--rate", "1000", "--steps", "1", "--rounds",
                              "1", "--json"});
  const auto row = row_of(all);
  EXPECT_EQ(row["ranks"], 32);
  EXPECT_EQ(row["hosts"], 8);
  EXPECT_EQ(row["transport"], "shm+tcp");
  EXPECT_GT(row["efficiency"][0], 0);
  // 2.7 MB need 39 ms on each cable, and ten images 0.3 ms.
  EXPECT_GT(row["least_step_seconds"].get<double>(), 0.030);
}

// The row says at which rate the hosts were connected, so the page has a table of its own for it.
TEST_F(ScaleHostsTest, TrainsOnTwoHosts) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1})};
  const std::vector<std::string> words{"--deadline", "30",           bin_path("rota-bench"),
                                       "scale",      "--model",      "mlp",
                                       "--real",     "--batch-size", "10",
                                       "--rate",     "1000",         "--steps",
                                       "1",          "--rounds",     "1",
                                       "--json"};
  std::vector<std::unique_ptr<Process>> both;
  for (const std::size_t host : {0, 1}) both.push_back(start(host, words));
  const auto row = row_of(both);
  EXPECT_EQ(row["real"], true);
  EXPECT_EQ(row["ranks"], 2);
  EXPECT_EQ(row["hosts"], 2);
  EXPECT_EQ(row["transport"], "tcp");
  EXPECT_EQ(row["megabits"], 1000);
  EXPECT_GT(row["efficiency"][0], 0);
}

}  // namespace
}  // namespace rota::testing
