// Lets the tests of kernels run on the first GPU, by the kernels of librota_cuda.
#include <gtest/gtest.h>
#include <rota/cuda.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/cuda/launches.h"
#include "kernels/cuda/where.h"

namespace rota::kernels::cuda {
namespace {

const rota::cuda::Calls& calls() { return *rota_calls_of_cuda(); }

void require(int error, const char* what) {
  if (error != 0)
    throw std::runtime_error(std::string(what) + ": CUDA error " + std::to_string(error));
}

// Blocks of pinned memory that are free, by their size: making one takes long.
std::map<std::size_t, std::vector<std::byte*>>& free_blocks() {
  static auto* const kBlocks = new std::map<std::size_t, std::vector<std::byte*>>;
  return *kBlocks;
}

class OnGpu : public ::testing::Environment {
 public:
  void SetUp() override {
    rota::cuda::use_devices();
    require(calls().load_kernels(0), "a kernel on device 0");
  }
};

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new OnGpu);

}  // namespace

const Launches& launches() noexcept { return *rota_kernels_of_cuda(); }

std::byte* testing::take_pinned(std::size_t bytes) {
  auto& free = free_blocks()[bytes];
  void* address = nullptr;
  if (free.empty()) {
    require(calls().allocate_pinned(bytes, address), "pinned memory");
  } else {
    address = free.back();
    free.pop_back();
  }
  return static_cast<std::byte*>(address);
}

void testing::give_pinned(std::byte* address, std::size_t bytes) noexcept {
  free_blocks()[bytes].push_back(address);
}

// The kernels are on the default stream, whose handle is 0.
void testing::finish() {
  static const rota::cuda::Handle event = [] {
    rota::cuda::Handle made = 0;
    require(calls().make_event(0, made), "an event");
    return made;
  }();
  require(calls().record({}, event), "the recording of an event");
  for (bool is_done = false; !is_done; std::this_thread::yield()) {
    require(calls().test(0, event, is_done), "a kernel");
  }
}

}  // namespace rota::kernels::cuda
