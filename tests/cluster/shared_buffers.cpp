// This program is a rank with buffers larger than a pod's /dev/shm. It sums them over memory that
// all ranks share.
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <rota/communicator.h>
#include <rota/shared_allocator.h>

int main() {
  constexpr std::size_t kMebibyte = 1 << 20;
  constexpr std::size_t kBytes = 128 * kMebibyte;
  rota::Communicator comm;
  const auto mine = static_cast<float>(comm.rank() + 1);
  const rota::SharedAllocator<float> shared(comm);
  std::vector<float, rota::SharedAllocator<float>> values(kBytes / sizeof(float), mine, shared);
  comm.all_reduce(values, rota::ReduceOp::kSum);

  const auto world = static_cast<float>(comm.world_size());
  const float sum = world * (world + 1) / 2;
  const bool is_right = std::ranges::all_of(values, [&](float value) { return value == sum; });
  struct statvfs device = {};
  ::statvfs("/dev/shm", &device);
  if (comm.rank() == 0) {
    std::printf("/dev/shm has %zu MiB\n", device.f_blocks * device.f_frsize / kMebibyte);
  }
  std::printf("%zu MiB are %s\n", kBytes / kMebibyte, is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
