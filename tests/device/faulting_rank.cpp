// A rank of a job in which the device of rank 1 faults in the third call. The other ranks have
// their values in host memory. Each rank prints its error, and ends with 1.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/error.h>

#include "testing/fake_device.h"

int main() {
  constexpr std::size_t kCount = 100'000;
  rota::testing::FakeDevice fake;
  rota::Communicator comm;
  std::vector<float> here(kCount);
  const bool is_on_device = comm.rank() == 1;
  rota::DeviceBlock block;
  if (is_on_device) block = rota::allocate_device(kCount * sizeof(float));
  const rota::Values values =
      is_on_device ? rota::Values(block.as<float>()) : rota::Values(std::span(here));
  try {
    for (int call = 1; call <= 3; ++call) {
      if (is_on_device && call == 3) fake.fault();
      comm.all_reduce(values, rota::ReduceOp::kSum);
    }
  } catch (const rota::Error& error) {
    std::printf("rank %zu says: %s\n", comm.rank(), error.what());
    std::fflush(stdout);
    // All ranks have time to say so before rotarun ends them.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 1;
  }
  return 0;
}
