// Maps anonymous pages, and advises the kernel not to dump them.
#include "os/secret_memory.h"

#include <sys/mman.h>

#include <string>
#include <utility>

#include "os/host.h"
#include "os/system_error.h"

namespace rota::os {

SecretMemory::SecretMemory(std::size_t bytes) {
  if (bytes == 0) return;
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw_errno("mmap of " + std::to_string(bytes) + " bytes for a secret");
  // Best effort: a kernel that does not know this advice writes the pages into core files.
  (void)::madvise(start, bytes, MADV_DONTDUMP);
  bytes_ = {static_cast<std::byte*>(start), bytes};
}

SecretMemory::SecretMemory(SecretMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

SecretMemory::~SecretMemory() {
  if (bytes_.empty()) return;
  wipe(bytes_);
  ::munmap(bytes_.data(), bytes_.size());
}

void copy_secret(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  volatile std::byte* out = to.data();
  for (const std::byte byte : from) *out++ = byte;
}

}  // namespace rota::os
