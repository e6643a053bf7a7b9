// Tests a real training run of the example on several hosts.
#include <filesystem>

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

// Method: compares with the same world on one host, where the ranks also use TCP.
TEST_F(MnistHosts, TrainsToTheSameWeightsAsOnOneHost) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and a job of one host shows the same";
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

// Hosts that have only their own folders: one of them loses it, and the run goes on.
class MnistCopies : public MnistHosts {
 protected:
  std::string folder_of(std::size_t host) const { return folder_ + "/" + std::to_string(host); }

  // Each host has a folder of its own. Returns the output of rank 0.
  std::string train(const std::string& epochs) const {
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < network_->host_count(); ++host) {
      auto words = training();
      words.back() = epochs;
      words.insert(words.end(), {"--checkpoint-dir", folder_of(host), "--checkpoint-storage",
                                 "per-host", "--checkpoint-every", "100", "--keep", "2"});
      all.push_back(start(host, words));
    }
    for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 0) << each->err();
    return all[0]->out();
  }
};

TEST_F(MnistCopies, AHostWithANewDiskIsSentTheCheckpoint) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the tests of checkpoints show the same";
#endif
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 1})};
  train("1");
  std::filesystem::remove_all(folder_of(2));
  const std::string second = train("2");
  EXPECT_THAT(second, HasSubstr("resumes after step 150, in epoch 2, from " + folder_of(0)));
  EXPECT_THAT(second, HasSubstr("host 10.77.0.3 had no checkpoint, so another host has sent it"));
  EXPECT_THAT(second, HasSubstr("no host has what rank 3 alone had"));

  std::vector<std::string> alone = {"-np", "4", "--transport", "tcp"};
  for (const std::string& word : training()) alone.push_back(word);
  alone.back() = "2";
  EXPECT_EQ(weights_of(second), weights_of(run_rotarun(alone).out));

  for (std::size_t host = 0; host < network_->host_count(); ++host) {
    const Result verified =
        run({.arguments = {bin_path("rota-checkpoint"), "verify", folder_of(host)}});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    const Result exported =
        run({.arguments = {bin_path("rota-checkpoint"), "export", folder_of(host) + "/000000000300",
                           folder_ + "/" + std::to_string(host) + ".safetensors"}});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
  }
}

TEST_F(MnistCopies, HostsThatShareAFolderAreRefused) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1, 1})};
  std::vector<std::string> words = training();
  words.insert(words.end(), {"--checkpoint-dir", folder_of(0), "--checkpoint-storage", "per-host"});
  const auto all = start_all(words);
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 73) << each->err();
  EXPECT_THAT(all[0]->err(), HasSubstr("another host of this job saves its checkpoints there"));
}

}  // namespace
}  // namespace rota::testing
