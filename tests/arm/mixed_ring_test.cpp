// Ranks of 32-bit ARM, 64-bit ARM and this machine's processor in one job. The ARM ranks run in
// emulators, each rank on a host of its own. The hosts are network namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "hosts/across_hosts.h"
#include "mnist/few_images.h"

namespace rota::testing {
namespace {

using Words = std::vector<std::string>;

enum class Processor { kArmhf, kArm64, kNative };

constexpr auto kPatience = std::chrono::minutes(9);

// Returns the emulator, and the path of its build's program. `folder` is "bin" or "tests".
Words emulated(const std::string& architecture, const Words& emulator, const std::string& folder,
               const std::string& program) {
  const char* sysroots = std::getenv("ROTA_SYSROOTS");
  EXPECT_NE(sysroots, nullptr) << "start this test by ./dev arm";
  Words words = emulator;
  words.insert(words.end(), {"-L", std::string(sysroots ? sysroots : "") + "/" + architecture,
                             source_path("build/" + architecture + "/" + folder + "/" + program)});
  return words;
}

Words on_processor(Processor processor, const std::string& folder, const std::string& program) {
  switch (processor) {
    case Processor::kArmhf:
      return emulated("armhf", {"/usr/bin/qemu-arm", "-cpu", "cortex-a7"}, folder, program);
    case Processor::kArm64:
      return emulated("arm64", {"/usr/bin/qemu-aarch64", "-cpu", "cortex-a53"}, folder, program);
    case Processor::kNative:
      break;
  }
  return {folder == "bin" ? bin_path(program) : test_path(program)};
}

Words given_gradients(Processor processor) {
  return on_processor(processor, "tests", "given_gradients");
}

// Returns the arguments `first`, then `second`.
Words joined_words(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class MixedRing : public AcrossHosts {
 protected:
  // Runs one rank for each processor, on a host of its own, and returns what rank 0's host prints.
  std::string run_mixed(const std::vector<Processor>& processors, const std::string& folder,
                        const std::string& program, const Words& arguments = {}) {
    environment_ = {"ROTA_HOSTS=" + hosts(std::vector<std::size_t>(processors.size(), 1)),
                    "OPENBLAS_NUM_THREADS=1"};
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < processors.size(); ++host) {
      const Words rank = joined_words(on_processor(processors[host], folder, program), arguments);
      all.push_back(start(host, joined_words({"--deadline", "120"}, rank)));
    }
    for (const auto& each : all) EXPECT_EQ(each->wait(kPatience).exit_code, 0) << each->err();
    return all[0]->out();
  }

  static std::string run_native(std::size_t world_size, const Words& command) {
    const Words all =
        joined_words({"-np", std::to_string(world_size), "--transport", "tcp"}, command);
    const Result result = run_rotarun(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_F(MixedRing, SumsOfGivenGradientsHaveTheSameBits) {
  const std::string native = run_native(3, given_gradients(Processor::kNative));
  EXPECT_EQ(std::ranges::count(native, '\n'), 78);
  EXPECT_EQ(run_mixed({Processor::kArmhf, Processor::kArm64, Processor::kNative}, "tests",
                      "given_gradients"),
            native);
}

TEST_F(MixedRing, RanksOf64BitsShareMemory) {
  const Words command = joined_words(
      joined_words({"-np", "2", "--transport", "shm"}, given_gradients(Processor::kArm64)),
      joined_words({":", "-np", "1"}, given_gradients(Processor::kNative)));
  const Result shared = run_rotarun(command);
  EXPECT_EQ(shared.exit_code, 0) << shared.err;
  EXPECT_EQ(shared.out, run_native(3, given_gradients(Processor::kNative)));
}

TEST_F(MixedRing, RanksOf32And64BitsAreRefusedSharedMemory) {
  const Words command =
      joined_words(joined_words({"-np", "1"}, given_gradients(Processor::kArmhf)),
                   joined_words({":", "-np", "1"}, given_gradients(Processor::kNative)));
  const Result result = run_rotarun(command);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              HasSubstr("they cannot share memory; start rotarun with --transport tcp"));
}

class MixedTraining : public MixedRing {
 protected:
  struct Score {
    double accuracy = 0;
    double loss = 0;
  };

  // Reads rank 0's last epoch.
  static Score score_in(const std::string& out) {
    Score score;
    bool is_done = false;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      const auto event = nlohmann::json::parse(line, nullptr, false);
      if (event.is_discarded()) continue;
      is_done = is_done || event["event"] == "done";
      if (event["event"] == "epoch") score = {event["test_accuracy"], event["test_loss"]};
    }
    EXPECT_TRUE(is_done) << out;
    return score;
  }

  Words training(const Words& arguments) const {
    return joined_words({"--json", "--data", images_.path().string()}, arguments);
  }

  // Trains with and without emulated ranks. The matrix products differ in their last bits, so the
  // accuracy may differ by `most`.
  void expect_like_native(const std::vector<Processor>& processors, double most,
                          const Words& arguments) {
    const Words flags = training(arguments);
    const Score mixed = score_in(run_mixed(processors, "bin", "mnist", flags));
    const Score native =
        score_in(run_native(processors.size(), joined_words({bin_path("mnist")}, flags)));
    EXPECT_GT(native.accuracy, 0.2) << "a model that has learned nothing shows nothing";
    EXPECT_NEAR(mixed.accuracy, native.accuracy, most);
    EXPECT_NEAR(mixed.loss, native.loss, 0.01 * native.loss);
    const std::string words = ::testing::PrintToString(arguments);
    std::printf("%s: accuracy %.4f, native %.4f; loss %.6f, native %.6f\n", words.c_str(),
                mixed.accuracy, native.accuracy, mixed.loss, native.loss);
  }

  // Returns the hashes of the weights that an emulated rank and a native rank of one host train.
  std::string weights_over(const std::string& transport) const {
    const Words folder = {images_.path().string()};
    const auto rank = [&](Processor processor) {
      return joined_words(on_processor(processor, "tests", "trained_weights"), folder);
    };
    Command command = rotarun(
        joined_words(joined_words({"-np", "1", "--deadline", "120", "--transport", transport},
                                  rank(Processor::kArm64)),
                     joined_words({":", "-np", "1"}, rank(Processor::kNative))));
    command.environment = {"OPENBLAS_NUM_THREADS=1"};
    const Result result = Process(std::move(command)).wait(kPatience);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  TemporaryFolder images_;
};

// The program ends with 1 if a rank has other weights than rank 0.
TEST_F(MixedTraining, EndsWithTheSameWeightsOnEachRank) {
  write_few_images(images_, 600, 200);
  const std::string hashes = run_mixed({Processor::kArmhf, Processor::kArm64, Processor::kNative},
                                       "tests", "trained_weights", {images_.path().string()});
  EXPECT_EQ(std::ranges::count(hashes, '\n'), 2) << hashes;
}

TEST_F(MixedTraining, EndsWithTheSameWeightsOverShmAndTcp) {
  write_few_images(images_, 600, 200);
  const std::string shared = weights_over("shm");
  EXPECT_EQ(std::ranges::count(shared, '\n'), 2) << shared;
  EXPECT_EQ(weights_over("tcp"), shared);
}

TEST_F(MixedTraining, ReachesTheAccuracyOfNativeRanks) {
  write_few_images(images_, 1200, 1000);
  const std::vector<Processor> three = {Processor::kArmhf, Processor::kArm64, Processor::kNative};
  constexpr double kThreeImages = 0.003;
  expect_like_native(
      three, kThreeImages,
      {"--model", "seed", "--epochs", "3", "--batch-size", "20", "--learning-rate", "0.5"});
  expect_like_native(three, kThreeImages,
                     {"--model", "mlp", "--epochs", "1", "--batch-size", "20"});
}

TEST_F(MixedTraining, SendsLeNetByCodecsOver100Mbit) {
  write_few_images(images_, 240, 120);
  network_ = std::make_unique<Network>(4);
  for (std::size_t host = 0; host < 4; ++host) network_->limit_rate(host, "100mbit");
  constexpr double kTwoImages = 0.017;
  for (const std::string codec : {"int8", "top-k"}) {
    expect_like_native(
        {Processor::kArmhf, Processor::kArm64, Processor::kNative, Processor::kNative}, kTwoImages,
        {"--model", "lenet", "--epochs", "1", "--batch-size", "10", "--codec", codec});
  }
}

}  // namespace
}  // namespace rota::testing
