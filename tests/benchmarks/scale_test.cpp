// `rota-bench scale` as users run it: its row describes the job, and its sums are right. Method: a
// few short steps of two or three ranks, over shared memory and TCP. No test judges the times.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota::bench {
namespace {

using nlohmann::json;
using testing::Result;
using Arguments = std::vector<std::string>;

Result run(const std::string& ranks, const std::string& transport, const Arguments& further) {
  Arguments all = {"-np",
                   ranks,
                   "--oversubscribe",
                   "--transport",
                   transport,
                   testing::bin_path("rota-bench"),
                   "scale",
                   "--model",
                   "mlp",
                   "--rounds",
                   "2",
                   "--steps",
                   "2"};
  all.insert(all.end(), further.begin(), further.end());
  return testing::run_rotarun(all);
}

TEST(Scale, DescribesTheJobOverEachTransport) {
  for (const std::string transport : {"shm", "tcp"}) {
    const Result result = run("3", transport, {"--json", "--batch-size", "10", "--rate", "1000"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json row = json::parse(result.out);  // Only rank 0 prints.
    EXPECT_EQ(row["name"], "rota");
    EXPECT_EQ(row["transport"], transport);
    EXPECT_EQ(row["model"], "mlp");
    EXPECT_EQ(row["scaling"], "weak");
    EXPECT_EQ(row["real"], false);
    EXPECT_EQ(row["ranks"], 3);
    EXPECT_EQ(row["hosts"], 1);
    EXPECT_EQ(row["batch_size"], 10);
    EXPECT_EQ(row["megabits"], 1000);
    EXPECT_EQ(row["gradient_bytes"], 669'706 * sizeof(float));
    for (const char* time : {"step_seconds", "computing_seconds", "communication_seconds"}) {
      EXPECT_GT(row[time][0], 0) << time;
    }
    EXPECT_GT(row["efficiency"][0], 0);
  }
}

TEST(Scale, SharesTheBatchOfTheWorldIfItIsStrong) {
  const Result result = run("2", "shm", {"--json", "--scaling", "strong", "--batch-size", "20"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["scaling"], "strong");
  // mlp's pace is 37,000 images a second, and a rank has ten images.
  EXPECT_GE(json::parse(result.out)["computing_seconds"][1].get<double>(), 10 / 37'000.0 * 0.999);
}

TEST(Scale, TrainsIfStepsShallBeReal) {
  for (const char* scaling : {"weak", "strong"}) {
    const Result result =
        run("2", "shm", {"--json", "--real", "--scaling", scaling, "--batch-size", "4"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json row = json::parse(result.out);
    EXPECT_EQ(row["real"], true);
    EXPECT_EQ(row["least_step_seconds"], 0) << "nobody knows how fast the ranks could compute";
    EXPECT_GT(row["step_seconds"][0], 0);
    EXPECT_GT(row["efficiency"][0], 0);
  }
}

TEST(Scale, RefusesABatchThatRanksCannotShare) {
  const Result result = run("3", "shm", {"--scaling", "strong", "--batch-size", "20"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--batch-size 20: 3 ranks cannot share this batch equally"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace rota::bench
