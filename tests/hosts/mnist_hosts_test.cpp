// The example of a real training, across hosts.
#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

class MnistHosts : public AcrossHosts {
 protected:
  static std::vector<std::string> training() {
    return {bin_path("mnist"), "--data", source_path("examples/mnist/data"), "--model", "seed",
            "--epochs",        "1"};
  }

  static std::string weights_of(const std::string& out) {
    const std::size_t at = out.find("weights ");
    return at == std::string::npos ? "none: " + out : out.substr(at, out.find('\n', at) - at);
  }
};

// Method: the same world on one host, where ranks use TCP as well.
TEST_F(MnistHosts, TrainsToTheSameWeightsAsOnOneHost) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, for what a job of one host shows";
#endif
  for (const auto& slots : std::vector<std::vector<std::size_t>>{{2, 1, 3}, {3, 3, 1}}) {
    environment_ = {"ROTA_HOSTS=" + hosts(slots)};
    const auto all = start_all(training());
    for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    std::vector<std::string> alone = {"-np", std::to_string(slots[0] + slots[1] + slots[2]),
                                      "--transport", "tcp"};
    for (const std::string& word : training()) alone.push_back(word);
    const Result result = run_rotarun(alone);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(weights_of(all[0]->out()), weights_of(result.out));
    EXPECT_THAT(result.out, HasSubstr("weights "));
  }
}

}  // namespace
}  // namespace rota::testing
