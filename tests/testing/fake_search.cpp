// Answers as a machine with a new driver does.
#include "testing/fake_search.h"

#include <cstdio>

namespace rota::testing {

void add_search(cuda::Calls& calls) {
  calls.name = "a fake device";
  calls.cuda_version = 13000;
  calls.describe = [](int error, char* text, std::size_t bytes) noexcept {
    const char* name = error == kFakeFaulted    ? "an illegal memory access was encountered"
                       : error == kFakeNoRoom   ? "out of memory"
                       : error == kFakeNoStream ? "invalid resource handle"
                       : error == kFakeCaptured ? "operation not permitted when stream is capturing"
                                                : "invalid argument";
    std::snprintf(text, bytes, "%s", name);
  };
  calls.find_driver = [](int& version) noexcept {
    version = 13000;
    return 0;
  };
  calls.describe_device = [](std::uint8_t device, cuda::DeviceFacts& facts) noexcept {
    std::snprintf(facts.name, sizeof facts.name, "fake GPU");
    std::snprintf(facts.id, sizeof facts.id, "fake-%d", int{device});
    facts.capability = 90;
    return 0;
  };
  calls.load_kernels = [](std::uint8_t) noexcept { return 0; };
}

}  // namespace rota::testing
