// Two ranks sum values of a GPU. Over tcp, the values cross from the GPU to the host, the
// connection and back, and the slowest of the three is the limit.
#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/devices.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/block.h"
#include "gpu/commands.h"
#include "gpu/row.h"
#include "gpu/sums.h"
#include "gpu/timer.h"
#include "kernels/cuda/launches.h"
#include "statistics.h"

namespace rota::bench::gpu {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::size_t kCount = kBytes / sizeof(float);
constexpr int kRounds = 11;
constexpr double kLeastOfStaged = 0.85;
constexpr double kLeastOfMapped = 0.8;

double seconds_of_all_reduce(Communicator& comm, DeviceSpan<float> values) {
  std::vector<double> seconds;
  for (int round = 0; round <= kRounds; ++round) {
    comm.barrier();
    const auto begin = std::chrono::steady_clock::now();
    comm.all_reduce(values, kMeasuredOp);  // Of zeros.
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
    if (round > 0) seconds.push_back(lasted.count());  // The first call plans, and takes memory.
  }
  return median(seconds);
}

// Copies the values to the host, and as many bytes from the host at the same time.
double seconds_of_copies() {
  const DeviceBlock there = allocate_device(kBytes);
  const DeviceBlock also_there = allocate_device(kBytes);
  const Block here = device::allocate_pinned(kBytes);
  const Block also_here = device::allocate_pinned(kBytes);
  device::Stream other(0);
  const device::Event began(0);
  const device::Event ended(0);
  Timer timer(0);
  const cuda::Calls& calls = device::calls();
  return timer.seconds_of([&] {
    timer.record(began);
    device::check(calls.wait_for(other.on(), began.handle()), 0, "a wait");
    device::check(
        calls.copy(other.on(), also_there.bytes().address(), also_here.bytes().data(), kBytes), 0,
        "a copy to the device");
    other.record(ended);
    device::check(calls.copy(timer.on(), here.bytes().data(), there.bytes().address(), kBytes), 0,
                  "a copy from the device");
    return calls.wait_for(timer.on(), ended.handle());
  });
}

// Sums two arrays into both.
double seconds_of_one_kernel() {
  const DeviceBlock first = allocate_device(kBytes);
  const DeviceBlock second = allocate_device(kBytes);
  const auto reduce =
      rota_kernels_of_cuda()->of(DataType::kFloat32).reduce[static_cast<std::size_t>(kMeasuredOp)];
  kernels::cuda::Reduction sum{};
  sum.inputs[0] = first.bytes().address();
  sum.inputs[1] = second.bytes().address();
  sum.input_count = 2;
  sum.to = first.bytes().address();
  sum.also_to = second.bytes().address();
  sum.count = kCount;
  Timer timer(0);
  return timer.seconds_of([&] { return reduce(timer.queue(), sum); });
}

double rate_of(double seconds) { return static_cast<double>(kBytes) / seconds / 1e9; }

const char* what_is_measured(bool is_over_tcp) {
  return is_over_tcp ? "all-reduce of two ranks over tcp, staged, 64 MiB"
                     : "all-reduce of two ranks on one GPU, over shm, 64 MiB";
}

Row compared(double seconds, bool is_over_tcp, double socket_seconds) {
  Row row{.what = what_is_measured(is_over_tcp), .value = rate_of(seconds), .unit = "GB/s"};
  if (is_over_tcp) {
    const double copy_seconds = seconds_of_copies();
    row.peer = copy_seconds > socket_seconds ? "pinned copies" : "a bare connection";
    row.peer_value = rate_of(std::max(copy_seconds, socket_seconds));
    row.least_ratio = kLeastOfStaged;
  } else {
    row.peer = "one kernel";
    row.peer_value = rate_of(seconds_of_one_kernel());
    row.least_ratio = kLeastOfMapped;
  }
  return row;
}

}  // namespace

void measure_all_reduce(double socket_seconds) {
  open_devices();
  Communicator comm;
  if (comm.world_size() != 2) throw std::invalid_argument("all-reduce needs two ranks");
  const bool is_over_tcp = comm.rank_table().transport == "tcp";
  const DeviceBlock block = allocate_device(kBytes);
  const auto values = block.as<float>();
  const std::string why_not =
      why_no_figure(comm, values, is_over_tcp ? Way::kAny : Way::kOnDevices);
  const double seconds = why_not.empty() ? seconds_of_all_reduce(comm, values) : 0;
  if (comm.rank() == 0) {  // The other rank must not use the GPU meanwhile.
    const Row row = why_not.empty()
                        ? compared(seconds, is_over_tcp, socket_seconds)
                        : Row{.what = what_is_measured(is_over_tcp), .why_not = why_not};
    std::printf("%s\n", to_json(row).c_str());
  }
  comm.barrier();
}

}  // namespace rota::bench::gpu
