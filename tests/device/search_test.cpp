// A process that can use no GPU says in one sentence what is missing. Method: tables of functions
// answer as CUDA does on machines that lack something.
#include "device/search.h"

#include <gtest/gtest.h>
#include <rota/devices.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/begin.h"
#include "device/stream.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/fake_search.h"

namespace rota {
namespace {

using device::why_none;
using testing::error_of;
using testing::FakeDevice;

constexpr int kInsufficientDriver = 35;
constexpr int kUnsupportedPtx = 222;
constexpr int kUnchanged = 77;

int error_of_count = 0;
int count_of_devices = 0;
int error_of_kernels = 0;
int driver_version = 0;

// A table that answers with the numbers above.
cuda::Calls answering_table() {
  cuda::Calls calls;
  testing::add_search(calls);
  calls.describe = [](int error, char* text, std::size_t bytes) noexcept {
    std::snprintf(text, bytes, "text of %d", error);
  };
  calls.count_devices = [](int& count) noexcept {
    if (error_of_count == 0) count = count_of_devices;
    return error_of_count;
  };
  calls.find_driver = [](int& version) noexcept {
    version = driver_version;
    return 0;
  };
  calls.load_kernels = [](std::uint8_t) noexcept { return error_of_kernels; };
  return calls;
}

std::string refusal_of(const cuda::Calls& calls) {
  const auto error = error_of([&] { cuda::use_devices(calls); });
  if (!error) return "";
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  return error->what();
}

TEST(DeviceSearch, SaysThatThereIsNoDriver) {
  EXPECT_EQ(why_none({.error = kInsufficientDriver, .cuda = 13000}),
            "this process finds no NVIDIA driver (libcuda.so.1), which GPUs need: install a driver "
            "that knows CUDA 13.0, and start a container with access to GPUs");
}

TEST(DeviceSearch, SaysThatTheDriverIsTooOld) {
  EXPECT_EQ(
      why_none({.error = kInsufficientDriver, .driver = 12040, .cuda = 13000}),
      "the NVIDIA driver knows CUDA up to 12.4, but rota was compiled with CUDA 13.0: install "
      "a newer driver");
}

TEST(DeviceSearch, SaysWhichDevicesAreVisible) {
  EXPECT_EQ(why_none({.error = 100}),
            "the NVIDIA driver finds no GPU: look at the output of nvidia-smi");
  EXPECT_EQ(why_none({.error = 100, .visible = ""}),
            "CUDA_VISIBLE_DEVICES is empty, so this process sees no GPU: unset it, or name GPUs");
  EXPECT_EQ(why_none({.error = 0, .count = 0, .visible = "MIG-5"}),
            "CUDA_VISIBLE_DEVICES=MIG-5 names no GPU of this machine: nvidia-smi -L lists the "
            "names");
  EXPECT_EQ(why_none({.error = 0, .count = 1, .visible = "MIG-5"}), "");
}

TEST(DeviceSearch, HasCudasWordsForOtherErrors) {
  EXPECT_EQ(
      why_none({.error = 3, .text = "initialization error"}),
      "CUDA cannot begin in this process: initialization error (CUDA error 3); a process that "
      "is forked from one that has used CUDA must start a new program");
  EXPECT_EQ(why_none({.error = 46, .text = "busy"}),
            "every GPU is taken by another process: busy (CUDA error 46); look at the compute mode "
            "in the output of nvidia-smi -q");
  EXPECT_EQ(why_none({.error = 802, .text = "system not yet initialized"}),
            "CUDA finds no GPU: system not yet initialized (CUDA error 802)");
}

TEST(DeviceSearch, KnowsThatCudaShowsOnePartOfAGpu) {
  EXPECT_EQ(device::why_not_there(1, 1, "MIG-a,MIG-b"),
            "there is no device 1: this process sees 1, by CUDA_VISIBLE_DEVICES=MIG-a,MIG-b, and "
            "CUDA shows a process only one part of a GPU");
  EXPECT_EQ(device::why_not_there(2, 2, "0,1"),
            "there is no device 2: this process sees 2, by CUDA_VISIBLE_DEVICES=0,1");
}

// Without a driver, CUDA returns an error and leaves the count as it was.
TEST(DeviceSearch, BelievesTheErrorAndNotTheCount) {
  const cuda::Calls calls = answering_table();
  int count = kUnchanged;
  error_of_count = kInsufficientDriver;
  EXPECT_EQ(calls.count_devices(count), kInsufficientDriver);
  EXPECT_EQ(count, kUnchanged);
  EXPECT_EQ(refusal_of(calls).substr(0, 36), "this process finds no NVIDIA driver ");
  error_of_count = 0;
}

TEST(DeviceSearch, LeavesTheTableThatIsInUse) {
  const FakeDevice fake;
  const cuda::Calls calls = answering_table();
  count_of_devices = 0;
  EXPECT_NE(refusal_of(calls), "");
  EXPECT_NO_THROW(device::Stream(0));
}

// The table must outlive the process's use of devices.
TEST(DeviceSearch, FindsKernelsThatADeviceCannotRun) {
  static const cuda::Calls kCalls = answering_table();
  count_of_devices = 1;
  driver_version = 12080;
  EXPECT_EQ(cuda::use_devices(kCalls), 1U);
  const auto why = [](int error) {
    error_of_kernels = error;
    const auto thrown = error_of([] { device::begin_use(0); });
    if (!thrown) return std::string();
    EXPECT_EQ(thrown->code(), ErrorCode::kSystem);
    return std::string(thrown->what());
  };
  EXPECT_EQ(why(209),
            "device 0 (fake GPU, compute capability 9.0) is older than the GPUs that rota was "
            "compiled for: compile rota with this capability in ROTA_CUDA_ARCHITECTURES");
  EXPECT_EQ(why(kUnsupportedPtx),
            "device 0 (fake GPU, compute capability 9.0) is newer than the GPUs that rota was "
            "compiled for, and the driver, which knows CUDA up to 12.8, cannot compile the kernels "
            "of CUDA 13.0 for it: install a newer driver");
  EXPECT_EQ(
      why(2),
      "device 0 (fake GPU, compute capability 9.0) cannot run rota's kernels: text of 2 (CUDA "
      "error 2)");
  EXPECT_EQ(why(0), "");
}

TEST(DeviceSearch, NamesTheLibraryThatItCannotOpen) {
  ::setenv("ROTA_CUDA_LIBRARY", "/nowhere/librota_cuda.so", 1);
  const auto error = error_of([] { open_devices(); });
  ::unsetenv("ROTA_CUDA_LIBRARY");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_STREQ(
      error->what(),
      "rota's library for GPUs cannot be opened (/nowhere/librota_cuda.so: cannot open "
      "shared object file: No such file or directory): install the component cuda of rota, "
      "or set ROTA_CUDA_LIBRARY to its path");
}

}  // namespace
}  // namespace rota
