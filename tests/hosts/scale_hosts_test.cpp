// `rota-bench scale` on 32 ranks of 8 hosts: the row describes the job, and the sums are right,
// which the program checks. Method: one round of one short step. No test judges the times.
#include <nlohmann/json.hpp>

#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class ScaleHostsTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!IsSkipped()) network_ = std::make_unique<Network>(8);
  }
};

TEST_F(ScaleHostsTest, CountsTheHostsOfTheJob) {
  environment_ = {"ROTA_HOSTS=" + hosts(std::vector<std::size_t>(8, 4))};
  const auto all = start_all({"--deadline", "30", bin_path("rota-bench"), "scale", "--model", "mlp",
                              "--batch-size", "10", "--rate", "1000", "--steps", "1", "--rounds",
                              "1", "--json"});
  std::string out;
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    out += result.out;
  }
  const auto row = nlohmann::json::parse(out);  // Only rank 0 prints.
  EXPECT_EQ(row["ranks"], 32);
  EXPECT_EQ(row["hosts"], 8);
  EXPECT_EQ(row["transport"], "shm+tcp");
  EXPECT_GT(row["efficiency"][0], 0);
  // 2.7 MB need 39 ms on each cable, and ten images 0.3 ms.
  EXPECT_GT(row["least_step_seconds"].get<double>(), 0.030);
}

}  // namespace
}  // namespace rota::testing
