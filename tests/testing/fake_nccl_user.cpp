// Opens the fake NCCL in the program of a test.
#include <cstdio>

#include "testing/fake_device.h"
#include "testing/fake_nccl.h"

namespace rota::testing {
namespace {

void* opened(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return library;
}

const DeviceForNccl kDevice{.add_work = FakeDevice::add_work,
                            .reach = FakeDevice::reach,
                            .current_device = FakeDevice::current_device,
                            .number_at = FakeDevice::number_at};

}  // namespace

NcclInside* attach_fake_nccl(const std::string& path) {
  using Function = NcclInside* (*)();
  NcclInside* inside = reinterpret_cast<Function>(dlsym(opened(path), "inside_of_fake_nccl"))();
  inside->device = &kDevice;
  return inside;
}

std::string FakeNccl::path_of(const std::string& folder) {
  return std::string(ROTA_FAKE_NCCL_DIR) + "/" + folder + "/libnccl.so.2";
}

FakeNccl::FakeNccl(const std::string& folder, const NcclManner& manner)
    : inside_(attach_fake_nccl(path_of(folder))) {
  inside_->manner = manner;
  using Function = const nccl::Calls* (*)(const char*, const char**) noexcept;
  const auto find =
      reinterpret_cast<Function>(dlsym(opened(ROTA_NCCL_LIBRARY_PATH), "rota_calls_of_nccl"));
  const char* why = "";
  calls_ = find(path_of(folder).c_str(), &why);
  if (!calls_) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
  }
  nccl::use(*calls_);
  NcclCounts& counts = inside_->counts;
  for (auto* count : {&counts.created, &counts.destroyed, &counts.aborted, &counts.revoked,
                      &counts.operations, &counts.groups, &counts.registered, &counts.deregistered,
                      &counts.zero_copy, &counts.crimes}) {
    *count = 0;
  }
}

}  // namespace rota::testing
