// Says what the figures belong to.
#include <rota/devices.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "device/calls.h"
#include "gpu/commands.h"

namespace rota::bench::gpu {
namespace {

std::string version_of(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

void print_facts() {
  const std::size_t count = open_devices();
  const cuda::Calls& calls = device::calls();
  cuda::DeviceFacts facts;
  int driver = 0;
  device::check(calls.describe_device(0, facts), 0, "the search for its name");
  device::check(calls.find_driver(driver), 0, "the search for the driver");
  const nlohmann::json line = {{"gpu", facts.name},
                               {"gpus", count},
                               {"capability", facts.capability},
                               {"cuda_of_driver", version_of(driver)},
                               {"cuda_of_rota", version_of(calls.cuda_version)}};
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace rota::bench::gpu
