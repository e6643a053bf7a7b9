// Keeps the table of NCCL's functions, and opens the library that fills it. librota is not linked
// with that library: most programs need no NCCL.
#include "collectives/nccl/calls.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <rota/error.h>

namespace rota {
namespace {

std::atomic<const nccl::Calls*> used_nccl{nullptr};

[[noreturn]] void refuse_nccl(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument,
              "the plan nccl: " + why + "; without NCCL, take plan auto");
}

const nccl::Calls* table_in(const std::string& path) {
  // Never closed: the table is used until the process ends.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    refuse_nccl("rota's library for NCCL cannot be opened: " +
                std::string(why ? why : "the reason is unknown") +
                ": install it, or name it in ROTA_NCCL_LIBRARY");
  }
  using Function = const nccl::Calls* (*)(const char* path, const char** why) noexcept;
  const auto find = reinterpret_cast<Function>(::dlsym(library, "rota_calls_of_nccl"));
  if (!find) refuse_nccl("the library " + path + " has no table of NCCL's functions");
  const char* why = "";
  const nccl::Calls* calls = find(nullptr, &why);
  if (!calls) refuse_nccl(why);
  return calls;
}

}  // namespace

namespace nccl {

void use(const Calls& calls) {
  if (calls.version != Calls::kVersion) {
    throw Error(ErrorCode::kInvalidArgument,
                "the library for NCCL has a table of version " + std::to_string(calls.version) +
                    ", but this rota needs version " + std::to_string(Calls::kVersion) +
                    ": install both from one release of rota");
  }
  used_nccl.store(&calls, std::memory_order_release);
}

}  // namespace nccl

namespace collectives::nccl {

const rota::nccl::Calls* calls_in_use() noexcept {
  return used_nccl.load(std::memory_order_acquire);
}

// Several threads may make their communicators at the same time.
const rota::nccl::Calls& open() {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (const auto* used = calls_in_use()) return *used;
  const char* named = std::getenv("ROTA_NCCL_LIBRARY");
  rota::nccl::use(*table_in(named && *named != '\0' ? named : "librota_nccl.so." ROTA_SOVERSION));
  return *calls_in_use();
}

std::string name_of(const rota::nccl::Calls& calls) {
  const int code = calls.nccl_version;
  return "NCCL " + std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

std::string abilities_of(const rota::nccl::Calls& calls) {
  std::string text;
  const std::pair<bool, const char*> all[] = {{calls.splits, "split"},
                                              {calls.shrinks, "shrink"},
                                              {calls.revoke != nullptr, "revoke"},
                                              {calls.register_memory != nullptr, "register"},
                                              {calls.shares_devices, "share devices"}};
  for (const auto& [has, name] : all) {
    if (has) text += std::string(text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "nothing new" : text;
}

}  // namespace collectives::nccl
}  // namespace rota
