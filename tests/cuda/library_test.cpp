// The real librota_cuda.so can be opened on every machine. Where it finds no device, it says what
// is missing, and ends nothing.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rota/cuda.h>
#include <rota/device_memory.h>
#include <rota/devices.h>

#include <cstdlib>
#include <string>

#include "cuda/library_file.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using testing::error_of;

bool has_driver() { return ::dlopen("libcuda.so.1", RTLD_NOW) != nullptr; }

// Returns the sentence of a refusal, or an empty string if there are devices.
std::string refusal_of(std::size_t (*search)()) {
  std::size_t count = 0;
  const auto error = error_of([&] { count = search(); });
  if (!error) {
    EXPECT_GT(count, 0U);
    return "";
  }
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  return error->what();
}

TEST(CudaLibrary, FindsDevicesOrSaysWhatIsMissing) {
  ::setenv("ROTA_CUDA_LIBRARY", testing::cuda_library_file().c_str(), 1);
  const std::string why = refusal_of(open_devices);
  EXPECT_EQ(refusal_of(open_devices), why);
  EXPECT_EQ(refusal_of(cuda::use_devices), why);
  if (has_driver()) return;
  EXPECT_EQ(why,
            "this process finds no NVIDIA driver (libcuda.so.1), which GPUs need: install a driver "
            "that knows CUDA 13.0, and start a container with access to GPUs");
}

TEST(CudaLibrary, ReturnsCode35AndNoCountWithoutADriver) {
  if (has_driver()) return;
  int count = 77;
  EXPECT_EQ(rota_calls_of_cuda()->count_devices(count), 35);
  EXPECT_EQ(count, 77);
  int version = 77;
  EXPECT_EQ(rota_calls_of_cuda()->find_driver(version), 0);
  EXPECT_EQ(version, 0);
}

// All functions return errors. None waits, and none ends the process.
TEST(CudaLibrary, FailsInEveryCallWithoutADriver) {
  if (has_driver()) return;
  const cuda::Calls& calls = *rota_calls_of_cuda();
  EXPECT_EQ(calls.version, cuda::Calls::kVersion);
  EXPECT_EQ(calls.cuda_version, 13000);
  void* address = nullptr;
  cuda::Handle handle = 0;
  bool is_done = false;
  cuda::Memory memory = cuda::Memory::kHost;
  std::uint8_t device = 0;
  cuda::DeviceFacts facts;
  float value = 1;
  EXPECT_NE(calls.allocate(0, 16, address), 0);
  EXPECT_NE(calls.allocate_pinned(16, address), 0);
  EXPECT_EQ(address, nullptr);
  EXPECT_NE(calls.find_memory(&value, memory, device), 0);
  EXPECT_NE(calls.make_stream(0, handle), 0);
  EXPECT_NE(calls.make_event(0, handle), 0);
  EXPECT_EQ(handle, 0U);
  EXPECT_NE(calls.record({}, 0), 0);
  EXPECT_NE(calls.test(0, 0, is_done), 0);
  EXPECT_NE(calls.copy({}, &value, &value, 4), 0);
  EXPECT_NE(calls.clear({}, &value, 4), 0);
  EXPECT_NE(calls.scale({}, &value, 1, DataType::kFloat32, 2), 0);
  EXPECT_NE(calls.describe_device(0, facts), 0);
  EXPECT_NE(calls.pin(&value, 4), 0);
  EXPECT_NE(calls.unpin(&value), 0);
  cuda::Allocation allocation;
  cuda::MemoryHandle shared;
  EXPECT_NE(calls.find_allocation(&value, allocation), 0);
  EXPECT_NE(calls.share(0, &value, shared), 0);
  EXPECT_NE(calls.open(0, {}, address), 0);
  EXPECT_NE(calls.close(0, &value), 0);
  const std::uint64_t word = 0;
  EXPECT_NE(calls.wait_for_word({}, &word, 0), 0);
  EXPECT_NE(calls.begin_capture({}), 0);
  EXPECT_NE(calls.end_capture({}, handle), 0);
  EXPECT_NE(calls.launch_graph({}, 0), 0);
  EXPECT_NE(calls.destroy_graph(0, 0), 0);
  EXPECT_NE(calls.enter(0), 0);
  EXPECT_NE(calls.models.make_products({}, handle), 0);
  EXPECT_NE(calls.models.fill_rows({}, &value, &value, 1, 1), 0);
  EXPECT_NE(calls.load_kernels(0), 0);
  EXPECT_EQ(value, 1.0F);
}

TEST(CudaLibrary, DescribesErrors) {
  std::string text(64, ' ');
  rota_calls_of_cuda()->describe(35, text.data(), text.size());
  EXPECT_STREQ(text.c_str(), "CUDA driver version is insufficient for CUDA runtime version");
}

TEST(CudaLibrary, GivesMemoryOnlyAfterTheSearch) {
  if (has_driver()) return;
  EXPECT_TRUE(error_of([] { allocate_device(64); }));
}

}  // namespace
}  // namespace rota
