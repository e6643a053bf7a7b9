// Allocates memory for secrets: no core file contains this memory.
#pragma once
#include <cstddef>
#include <span>

namespace rota::os {

// A separate mapping that the kernel leaves out of core files (MADV_DONTDUMP), of this process and
// of processes forked from it. gcore leaves the mapping out, too. The memory is zero at first, and
// the destructor wipes it.
class SecretMemory {
 public:
  SecretMemory() noexcept = default;
  // Throws Error kSystem, kNoMemory.
  explicit SecretMemory(std::size_t bytes);
  SecretMemory(SecretMemory&& other) noexcept;
  SecretMemory& operator=(SecretMemory&&) = delete;
  ~SecretMemory();

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Copies byte by byte. A copy in larger units would leave the secret in wide registers, and a
// program may save wide registers on its stack. The dynamic linker does that when it looks up a
// function at the function's first call. `to` must have room.
void copy_secret(std::span<const std::byte> from, std::span<std::byte> to) noexcept;

}  // namespace rota::os
