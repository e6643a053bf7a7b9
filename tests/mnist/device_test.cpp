// On a machine without a GPU, --device cuda ends at once with a code of its own, and a sentence
// that says what is missing. Method: the folder of the images does not exist, so the program that
// reads them first ends with another code. Where there are devices, fake ones in these tests, the
// program trains on them as it does on the CPU.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "mnist/few_images.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using ::testing::HasSubstr;
using testing::Result;

const std::string kProgram = testing::bin_path("mnist");

constexpr int kNoDevice = 69;
constexpr int kUsage = 2;

TEST(MnistOnADevice, SaysWhatIsMissing) {
  const std::vector<std::string> program = {kProgram, "--device", "cuda", "--data", "/nowhere"};
  std::vector<std::string> ranks = {"-np", "2"};
  ranks.insert(ranks.end(), program.begin(), program.end());
  if (::dlopen("libcuda.so.1", RTLD_NOW)) return;
  for (const Result& result : {testing::run({.arguments = program}), testing::run_rotarun(ranks)}) {
    EXPECT_EQ(result.exit_code, kNoDevice) << result.err;
#if defined(ROTA_HAS_CUDA)
    EXPECT_THAT(result.err,
                HasSubstr("mnist: this process finds no NVIDIA driver (libcuda.so.1), which GPUs "
                          "need: install a driver that knows CUDA 13.0, and start a container with "
                          "access to GPUs\n"));
#else
    EXPECT_THAT(result.err, HasSubstr("mnist: rota's library for GPUs cannot be opened "
                                      "(librota_cuda.so.0.1: cannot open shared object file"));
#endif
  }
}

TEST(MnistOnADevice, KnowsTwoKindsOfDevices) {
  const Result result = testing::run({.arguments = {kProgram, "--device", "tpu"}});
  EXPECT_EQ(result.exit_code, kUsage);
  EXPECT_EQ(result.err, "mnist: --device tpu: expected cpu or cuda\n");
}

// The losses of the epochs, in order.
std::vector<double> losses_of(const Result& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<double> losses;
  std::istringstream out(result.out);
  for (std::string line; std::getline(out, line);) {
    const auto report = nlohmann::json::parse(line, nullptr, false);
    if (report.is_discarded() || report["event"] != "epoch") continue;
    losses.push_back(report["train_loss"]);
    losses.push_back(report["test_loss"]);
  }
  return losses;
}

// On the fake device or, where ./dev gpu runs this test, on a GPU.
TEST(MnistOnADevice, TrainsThereAsOnTheCpu) {
  std::vector<std::string> environment;
  if (std::getenv("ROTA_TEST_GPU") == nullptr) {
    environment = {"ROTA_CUDA_LIBRARY=" ROTA_FAKE_CUDA_FILE};
  }
  testing::TemporaryFolder images;
  testing::write_few_images(images, 100, 20);
  for (const std::string model : {"mlp", "lenet"}) {
    SCOPED_TRACE(model);
    const auto losses_on = [&](const std::string& device) {
      return losses_of(
          testing::run({.arguments = {kProgram, "--device", device, "--model", model, "--data",
                                      images.path().string(), "--epochs", "2", "--batch-size", "20",
                                      "--learning-rate", "0.01", "--json"},
                        .environment = environment}));
    };
    const std::vector<double> here = losses_on("cpu");
    const std::vector<double> there = losses_on("cuda");
    ASSERT_EQ(here.size(), 4U);
    ASSERT_EQ(there.size(), here.size());
    for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-3);
  }
}

TEST(MnistOnADevice, EvaluatesOnTheCpu) {
  const Result result = testing::run(
      {.arguments = {kProgram, "--device", "cuda", "--evaluate", "--checkpoint-dir", "/nowhere"}});
  EXPECT_EQ(result.exit_code, kUsage);
  EXPECT_EQ(result.err, "mnist: --evaluate computes on the CPU: leave out --device cuda\n");
}

}  // namespace
}  // namespace rota
