// Sparse files that only this process has.
#include "transport/shm/thread_arenas.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "os/host.h"

namespace rota::transport::shm {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastArenaBytes = std::uint64_t{1} << 20;

}  // namespace

std::size_t thread_arena_bytes(std::size_t count) {
  const std::uint64_t wanted = sizeof(void*) == 8 ? 16 * kGiB : kGiB / count;
  const std::uint64_t allowed = os::file_size_limit_bytes();
  const std::uint64_t bytes =
      std::min(wanted, allowed) / memory::Arena::kPage * memory::Arena::kPage;
  if (bytes >= kLeastArenaBytes) return static_cast<std::size_t>(bytes);
  throw Error(ErrorCode::kNoMemory,
              "memory that threads share counts as a file, and the limit of " +
                  std::to_string(allowed) + " bytes (ulimit -f) leaves no room for it: raise it");
}

std::shared_ptr<Domain> make_thread_arenas(std::size_t count, std::size_t bytes) {
  std::vector<os::Fd> arenas;
  for (std::size_t i = 0; i < count; ++i) {
    arenas.push_back(os::make_shared_memory("rota-thread-" + std::to_string(i), bytes));
  }
  return std::make_shared<Domain>(std::move(arenas));
}

}  // namespace rota::transport::shm
