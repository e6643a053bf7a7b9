// A rank that uses device 0 of a fake driver, which is the same device for all ranks. It begins to
// use the device before it joins the job, or afterwards: "claiming_rank before" or "after". With
// "broken", the device refuses the kernels of rank 0, and rank 1 uses it then.
#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/error.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>

#include "testing/fake_device.h"

namespace {

// Returns a table of a device that runs no kernels.
const rota::cuda::Calls& broken_calls() {
  static const rota::cuda::Calls broken = [] {
    rota::cuda::Calls calls = rota::testing::FakeDevice::calls();
    calls.load_kernels = [](std::uint8_t) noexcept { return 209; };
    return calls;
  }();
  return broken;
}

void use_a_broken_device() {
  rota::Communicator comm;
  if (comm.rank() == 0) rota::cuda::use(broken_calls());
  try {
    if (comm.rank() != 0) comm.barrier();  // Rank 0 is the first.
    const rota::DeviceBlock block = rota::allocate_device(64);
    std::printf("rank %zu uses the device\n", comm.rank());
  } catch (const rota::Error& error) {
    if (error.code() != rota::ErrorCode::kSystem) throw;
    std::printf("rank %zu does not\n", comm.rank());
  }
  if (comm.rank() == 0) comm.barrier();
  comm.barrier();
}

}  // namespace

int main(int count, char** arguments) try {
  const rota::testing::FakeDevice fake;
  if (count > 1 && std::string_view(arguments[1]) == "broken") {
    use_a_broken_device();
    return 0;
  }
  const bool is_first = count > 1 && std::string_view(arguments[1]) == "before";
  std::optional<rota::DeviceBlock> block;
  if (is_first) block = rota::allocate_device(64);
  rota::Communicator comm;
  if (!is_first) {
    if (comm.rank() != 0) comm.barrier();  // Rank 0 is the first.
    block = rota::allocate_device(64);
    if (comm.rank() == 0) comm.barrier();
  }
  comm.barrier();
  if (comm.rank() == 0) std::printf("%zu ranks use one device\n", comm.world_size());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
