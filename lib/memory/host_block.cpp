// Allocates Blocks on the heap.
#include "memory/host_block.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <rota/error.h>

#include "os/system_error.h"

namespace rota::memory {
namespace {

class HostOwner : public Block::Owner {
 public:
  void release(std::span<std::byte> bytes) noexcept override { std::free(bytes.data()); }
};

}  // namespace

Block allocate_host(std::size_t bytes) {
  if (bytes == 0) return {};
  auto owner = std::make_shared<HostOwner>();  // Made first: if this throws, nothing is lost.
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* start = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (!start)
    throw Error(ErrorCode::kNoMemory,
                "no memory for " + std::to_string(bytes) + " bytes" + os::advice_on_memory());
  std::memset(start, 0, bytes);
  return {{static_cast<std::byte*>(start), bytes}, std::move(owner)};
}

}  // namespace rota::memory
