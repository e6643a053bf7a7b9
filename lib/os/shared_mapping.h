// Makes anonymous memory that several processes map: a memfd, which leaves no file name behind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "os/available_memory.h"
#include "os/fd.h"
#include "os/host.h"

namespace rota::os {

// Makes a sparse memfd of `bytes` bytes. Its pages cost nothing until they are reserved or touched.
// `name` appears in /proc only. Throws Error kSystem.
Fd make_shared_memory(const std::string& name, std::size_t bytes);

// Returns a path in /proc. Another process of the same user can open the memory at this path, as
// long as this process has it open. open_shared_memory() opens such a path, and throws Error
// kSystem.
std::string path_of_shared_memory(const Fd& memory);
Fd open_shared_memory(const std::string& path);

// Returns how many bytes the host can still give. Nothing means that this is unknown.
using AvailableBytes = std::function<std::optional<std::uint64_t>()>;

// Maps the whole of a memfd, readable and writable, for the life of the object.
class SharedMapping {
 public:
  SharedMapping() = default;
  // Maps at an address whose lower 28 bits are `place`, rounded up to whole pages. Maps at any
  // address if many such addresses are in use, or if addresses have 32 bits. Takes no further
  // addresses, even for a moment. `page_bytes` is the size of a page, a power of two. Throws Error
  // kSystem, kNoMemory.
  explicit SharedMapping(Fd memory, std::size_t place = 0,
                         std::size_t page_bytes = os::page_bytes());
  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  std::span<std::byte> bytes() const noexcept { return bytes_; }

  // Backs [offset, offset + count) with real pages now, so that touching them later cannot fail.
  // Throws Error kNoMemory when the host has no room; the range is then as after discard(). Asks
  // `available` before each slice: Linux gives pages that it does not have, and then kills a
  // process.
  void reserve(std::size_t offset, std::size_t count,
               const AvailableBytes& available = available_memory_bytes);
  // Gives the pages back; they read as zeros from then on.
  void discard(std::size_t offset, std::size_t count) noexcept;

 private:
  Fd memory_;
  std::span<std::byte> bytes_;
};

}  // namespace rota::os
