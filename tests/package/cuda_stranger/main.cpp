// A program that sums on a GPU, and on the host where there is no GPU.
#include <rota/communicator.h>
#include <rota/cuda.h>
#include <rota/device_memory.h>

#include <cstdio>
#include <vector>

namespace {

bool has_device() {
  try {
    rota::cuda::use_devices();
    return true;
  } catch (const rota::Error& error) {
    std::printf("sums on the host: %s\n", error.what());
    return false;
  }
}

}  // namespace

int main() {
  const bool uses_device = has_device();
  rota::Communicator comm;
  std::vector<float> here(1000, 1.0F);
  rota::DeviceBlock there;
  if (uses_device) there = rota::allocate_device(here.size() * sizeof(float));
  rota::Values values = uses_device ? rota::Values(there.as<float>()) : rota::Values(here);
  comm.all_reduce(values, rota::ReduceOp::kSum);
  return here[999] == (uses_device ? 1 : static_cast<float>(comm.world_size())) ? 0 : 1;
}
