// Memory for secrets: no core file has it.
#pragma once
#include <cstddef>
#include <span>

namespace rota::os {

// A mapping of its own, which the kernel leaves out of core files (MADV_DONTDUMP), also of those of
// processes that are forked from here; gcore does so, too. Zeros at first, and wiped when it goes.
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

// Byte by byte: what is copied at once goes through wide registers, which a program may save on its
// stack, as the linker does that looks for a function when it is called first. `to` has room.
void copy_secret(std::span<const std::byte> from, std::span<std::byte> to) noexcept;

}  // namespace rota::os
