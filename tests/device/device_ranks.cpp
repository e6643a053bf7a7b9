// One process of a world whose values are all on devices. The processes open each other's
// allocations, and each round has other allocations at the same addresses. Returns 0 if all sums
// are right, and no value has gone through host memory.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "testing/fake_device.h"

int main() {
  constexpr std::size_t kCount = 10'000;
  rota::testing::FakeDevice fake({.device_count = 3, .reuses_addresses = true});
  rota::Communicator comm;
  int wrong = 0;
  for (int round = 0; round < 10; ++round) {
    const auto device = static_cast<std::uint8_t>(comm.rank());
    const rota::DeviceBlock block = rota::allocate_device(kCount * sizeof(float), device);
    const auto own = static_cast<float>(round) + static_cast<float>(comm.rank());
    fake.write(block.as<float>(), std::vector<float>(kCount, own));
    comm.all_reduce(block.as<float>(), rota::ReduceOp::kSum);
    float sum = 0;
    for (std::size_t rank = 0; rank < comm.world_size(); ++rank) {
      sum += static_cast<float>(round) + static_cast<float>(rank);
    }
    if (fake.read(block.as<float>()) != std::vector<float>(kCount, sum)) ++wrong;
  }
  if (comm.staged_bytes() != 0) ++wrong;
  if (!fake.crime().empty()) ++wrong;
  if (wrong > 0) {
    std::printf("rank %zu has %d wrong results; %s\n", comm.rank(), wrong, fake.crime().c_str());
  }
  return wrong;
}
