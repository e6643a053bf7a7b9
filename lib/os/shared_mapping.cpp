// Makes, maps and fills shared memory with memfd_create, mmap and fallocate.
#include "os/shared_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/sizes.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// `place` is an offset from a multiple of this step. Only 64-bit addresses leave room for such
// steps.
constexpr std::size_t kAddressStep = std::size_t{1} << 28;
constexpr bool kIsRoomy = sizeof(void*) == 8;

// The last try takes any address: memory at a wrong place is slower, but works.
constexpr std::size_t kMostTries = 256;

constexpr std::size_t kReserveBytes = std::size_t{2} << 20;

std::uint64_t whole_pages(std::uint64_t bytes, std::size_t page_bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

void unmap(std::byte* start, std::size_t bytes) noexcept {
  if (bytes > 0) ::munmap(start, bytes);
}

// So many bytes of the host stay free. Ranks reserve at the same time, each a slice after its look
// at the host, and all programs need some memory besides.
constexpr std::uint64_t kFreeBytes = std::uint64_t{16} << 20;

// Throws Error kNoMemory if the host lacks room for the `missing` bytes of `count`.
void require_host_room(std::size_t count, std::size_t missing,
                       const std::optional<std::uint64_t>& available) {
  if (!available || missing + kFreeBytes <= *available) return;
  throw Error(ErrorCode::kNoMemory,
              "reserving " + std::to_string(count) + " bytes of shared memory: " +
                  std::to_string(missing) + " more are needed and " + std::to_string(kFreeBytes) +
                  " must stay free, but this host has only " + std::to_string(*available) +
                  " bytes of memory and swap left: allocate less, or run fewer ranks on this host");
}

[[noreturn]] void throw_lack_of_addresses(std::uint64_t bytes) {
  throw Error(ErrorCode::kNoMemory,
              "mmap of " + std::to_string(bytes) +
                  " shared bytes: a 32-bit program has no addresses for them; limit them with "
                  "ulimit -f, or use a 32-bit rotarun" +
                  advice_on_memory());
}

// Maps the first `count` bytes of `memory` at an address whose lower 28 bits are `place`. The
// system chooses the first address, and each further try wishes for a lower one, which the system
// grants if it is free. No try takes more addresses than the memory has, since a limit of addresses
// (ulimit -v) may leave no room for more. valgrind refuses a wished address that is not free; then
// the system chooses again.
std::byte* map_at(const Fd& memory, std::size_t count, std::size_t place) {
  std::byte* wished = nullptr;
  for (std::size_t tries = 1;; ++tries) {
    void* const found =
        ::mmap(wished, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.get(), 0);
    if (found == MAP_FAILED && wished != nullptr) {
      wished = nullptr;
      tries = kMostTries - 1;
      continue;
    }
    if (found == MAP_FAILED && errno == ENOMEM && !kIsRoomy) throw_lack_of_addresses(count);
    if (found == MAP_FAILED) throw_errno("mmap of " + std::to_string(count) + " shared bytes");
    auto* const start = static_cast<std::byte*>(found);
    const std::size_t beyond = (reinterpret_cast<std::uintptr_t>(start) - place) % kAddressStep;
    if (!kIsRoomy || beyond == 0 || tries == kMostTries) return start;
    unmap(start, count);
    wished = wished == nullptr ? start - beyond : wished - kAddressStep;
  }
}

}  // namespace

Fd make_shared_memory(const std::string& name, std::size_t bytes) {
  Fd memory(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!memory) throw_errno("memfd_create");
  if (::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
    throw_errno("ftruncate of a memfd");
  return memory;
}

std::string path_of_shared_memory(const Fd& memory) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory.get());
}

Fd open_shared_memory(const std::string& path) {
  Fd memory(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) throw_errno("open " + path);
  return memory;
}

SharedMapping::SharedMapping(Fd memory, std::size_t place, std::size_t page_bytes)
    : memory_(std::move(memory)) {
  struct stat status {};
  if (::fstat(memory_.get(), &status) != 0) throw_errno("fstat of a memfd");
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (!base::as_size(whole_pages(file_bytes, page_bytes))) throw_lack_of_addresses(file_bytes);
  const auto count = static_cast<std::size_t>(file_bytes);
  place = static_cast<std::size_t>(whole_pages(place, page_bytes));
  bytes_ = {map_at(memory_, count, place), count};
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMapping::~SharedMapping() { unmap(bytes_.data(), bytes_.size()); }

// Before Linux 6.10 a signal ends fallocate, which then undoes its work. With a profiler's timer, a
// call for a large range never completes. A call for a small slice completes between two signals.
// Other ranks reserve at the same time, so each slice begins with a new look at the host.
void SharedMapping::reserve(std::size_t offset, std::size_t count,
                            const AvailableBytes& available) {
  std::size_t done = 0;
  try {
    while (done < count) {
      require_host_room(count, count - done, available());
      const std::size_t slice = std::min(count - done, kReserveBytes);
      const int result = ::fallocate(memory_.get(), 0, static_cast<off_t>(offset + done),
                                     static_cast<off_t>(slice));
      if (result == 0) {
        done += slice;
      } else if (errno != EINTR) {
        throw_errno("reserving " + std::to_string(count) + " bytes of shared memory");
      }
    }
  } catch (...) {
    if (done > 0) discard(offset, done);
    throw;
  }
}

void SharedMapping::discard(std::size_t offset, std::size_t count) noexcept {
  // Best effort: pages that stay are given back when the mapping ends.
  (void)::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(offset), static_cast<off_t>(count));
}

}  // namespace rota::os
