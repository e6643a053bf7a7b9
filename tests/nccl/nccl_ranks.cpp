// One rank of a job with the plan nccl, over the fake NCCL and a fake device: nccl_ranks KIND
// [VICTIM]. If rank VICTIM is another one in some way, KIND says how; see main().
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/error.h>

#include "testing/fake_device.h"
#include "testing/fake_nccl.h"

namespace {

using namespace rota;  // NOLINT: a program of one file.

constexpr std::size_t kCount = 5000;

void expect(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

// The rank's values, on its device.
struct DeviceValues {
  DeviceValues(testing::FakeDevice* device, float value)
      : fake(*device), block(allocate_device(kCount * sizeof(float))) {
    fake.write(block.as<float>(), std::vector<float>(kCount, value));
  }
  bool are(float value) {
    return fake.read(block.as<float>()) == std::vector<float>(kCount, value);
  }

  testing::FakeDevice& fake;
  DeviceBlock block;
};

void add_up(Communicator& comm, testing::FakeDevice* device) {
  const auto n = static_cast<float>(comm.world_size());
  for (int i = 0; i < 5; ++i) {
    DeviceValues own(device, static_cast<float>(comm.rank()));
    comm.all_reduce(own.block.as<float>(), ReduceOp::kSum);
    expect(own.are(n * (n - 1) / 2), "the sum");
    comm.broadcast(own.block.as<float>(), 0);
  }
  Communicator half = comm.split(comm.rank() % 2);
  DeviceValues own(device, 1);
  half.all_reduce(own.block.as<float>(), ReduceOp::kMean);
  expect(own.are(1), "the mean of a part");
  std::vector<float> here(10, 1);
  comm.all_reduce(here, ReduceOp::kSum);
  expect(here[9] == n, "the sum in host memory");
}

// `device` is null if the program has no library for devices.
void run(const std::string& kind, bool is_victim, testing::FakeDevice* device) {
  CommunicatorOptions options = CommunicatorOptions::from_environment();
  options.plan = "nccl";
  Communicator comm(options);
  if (kind == "sums") return add_up(comm, device);
  DeviceValues own(device, 1);
  for (int i = 0; i < 2; ++i) comm.all_reduce(own.block.as<float>(), ReduceOp::kSum);
  if (is_victim && kind == "kill") ::kill(::getpid(), SIGKILL);
  if (is_victim && kind == "leaves") std::_Exit(0);
  if (is_victim && kind == "sleeps") std::this_thread::sleep_for(std::chrono::seconds(30));
  std::vector<float> here(kCount);
  if (is_victim && kind == "host") return comm.all_reduce(here, ReduceOp::kSum);
  const std::size_t count = is_victim && kind == "counts" ? kCount - 1 : kCount;
  comm.all_reduce(own.block.as<float>().first(count), ReduceOp::kSum);
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGTERM, SIG_IGN);
  const std::string kind = argv[1];
  const char* rank = std::getenv("ROTA_RANK");
  const bool is_victim = argc > 2 && rank && std::string(rank) == argv[2];
  std::string file = testing::FakeNccl::path_of("2.28");
  if (is_victim && kind == "version") file = testing::FakeNccl::path_of("2.18");
  if (is_victim && kind == "major") file = testing::FakeNccl::path_of("3.1");
  if (kind == "abort-hangs") file = testing::FakeNccl::path_of("2.18");  // It cannot revoke.
  ::setenv("ROTA_NCCL_LIBRARY", ROTA_NCCL_LIBRARY_PATH, 1);
  testing::attach_fake_nccl(file);
  if ((is_victim && kind == "none") || kind == "alone") file = "/nowhere/libnccl.so.2";
  ::setenv("ROTA_NCCL_FILE", file.c_str(), 1);
  try {
    std::unique_ptr<testing::FakeDevice> device;
    if (!is_victim || kind != "no-device") device = std::make_unique<testing::FakeDevice>();
    run(kind, is_victim, device.get());
    std::printf("fine\n");
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "told: %s: %s\n", std::string(to_string(error.code())).c_str(),
                 error.what());
    // The other ranks must have time to tell what they were told.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 5;
  }
}
