// Asks the system about this host and this process: name, memory, CPUs, descriptors, random bytes.
#include "os/host.h"

#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__aarch64__) || defined(__arm__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/byte_stream.h"
#include "base/hash.h"
#include "base/hex.h"
#include "os/cpu_set.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr std::size_t kMostCpus = 1 << 16;

using Resource = decltype(RLIMIT_FSIZE);  // With glibc an enumeration, not an int.

// Returns UINT64_MAX when there is no limit.
std::uint64_t soft_limit(Resource resource) {
  rlimit limit{};
  const bool is_known = ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_known ? static_cast<std::uint64_t>(limit.rlim_cur) : UINT64_MAX;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

std::string machine_id() {
  std::string kernel;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), kernel);
  struct stat network {};
  const bool is_known = !kernel.empty() && ::stat("/proc/self/ns/net", &network) == 0;
  const std::string text = is_known ? kernel + " " + std::to_string(network.st_dev) + " " +
                                          std::to_string(network.st_ino)
                                    : host_name();
  return base::to_hex(base::fnv1a(base::bytes_of(text)));
}

std::uint64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::uint64_t>(pages) * page_bytes() : 0;
}

std::size_t page_bytes() noexcept {
  static const auto kBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return kBytes;
}

std::uint64_t file_size_limit_bytes() { return soft_limit(RLIMIT_FSIZE); }

bool is_beyond_file_limit(std::uint64_t bytes) { return bytes > file_size_limit_bytes(); }

std::uint64_t address_limit_bytes() { return soft_limit(RLIMIT_AS); }

std::uint64_t free_address_bytes() {
  const std::uint64_t limit = address_limit_bytes();
  if (limit == UINT64_MAX) return limit;
  std::uint64_t pages = 0;  // Stays 0 on a system without /proc.
  std::ifstream("/proc/self/statm") >> pages;
  return limit - std::min(limit, pages * page_bytes());
}

std::uint64_t process_limit() { return ::getuid() == 0 ? UINT64_MAX : soft_limit(RLIMIT_NPROC); }

std::uint64_t locked_memory_limit_bytes() { return soft_limit(RLIMIT_MEMLOCK); }

std::string architecture() {
  utsname name{};
  return ::uname(&name) == 0 ? name.machine : "unknown";
}

std::vector<int> allowed_cpus() {
  // The kernel refuses a set smaller than its own, and does not say how large its own is.
  for (std::size_t count = CPU_SETSIZE; count <= kMostCpus; count *= 2) {
    const CpuSet set(CPU_ALLOC(count));
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (!set) throw_errno("allocating a set of CPUs", ENOMEM);
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      throw_errno("sched_getaffinity");
    }
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < count; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
  }
  throw_errno("sched_getaffinity", EINVAL);
}

void fill_with_randomness(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0 && errno != EINTR) throw_errno("getrandom");
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

OpenFileLimits open_file_limits() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {UINT64_MAX, UINT64_MAX};
  return {static_cast<std::uint64_t>(limit.rlim_cur), static_cast<std::uint64_t>(limit.rlim_max)};
}

std::uint64_t raise_open_file_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const auto before = static_cast<std::uint64_t>(limit.rlim_cur);
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? before : 0;
}

std::optional<int> terminal_columns(int fd) noexcept {
  constexpr int kUsual = 80;
  if (::isatty(fd) == 0) return std::nullopt;
  winsize window{};
  return ::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : kUsual;
}

bool are_same_file(int first, int second) noexcept {
  struct stat a {};
  struct stat b {};
  return ::fstat(first, &a) == 0 && ::fstat(second, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

std::vector<std::string> environment() {
  std::vector<std::string> entries;
  for (char** entry = ::environ; entry && *entry; ++entry) entries.emplace_back(*entry);
  return entries;
}

bool has_aes_instructions() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes") != 0;
#elif defined(__aarch64__)
  constexpr unsigned long kAes = 1UL << 3;  // HWCAP_AES
  return (::getauxval(AT_HWCAP) & kAes) != 0;
#elif defined(__arm__)
  constexpr unsigned long kAes = 1UL << 0;  // HWCAP2_AES
  return (::getauxval(AT_HWCAP2) & kAes) != 0;
#else
  return false;
#endif
}

void wipe(std::span<std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  ::explicit_bzero(bytes.data(), bytes.size());
  // What the C library copied last is still in vector registers. Core files have registers, and the
  // dynamic linker saves them on the stack at the first call of a function. The C library chooses
  // registers by the size, so copies of zeros overwrite those for all sizes.
  static constexpr std::array<char, 1024> kZeros{};
  std::array<char, 1024> copied{};
  void* (*const volatile copy)(void*, const void*, std::size_t) = &std::memcpy;
  for (std::size_t size = 16; size <= kZeros.size(); size *= 2) {
    copy(copied.data(), kZeros.data(), size);
  }
}

std::string own_executable() {
  std::array<char, 4096> path{};
  const ssize_t bytes = ::readlink("/proc/self/exe", path.data(), path.size());
  if (bytes < 0) throw_errno("reading /proc/self/exe");
  return {path.data(), static_cast<std::size_t>(bytes)};
}

int own_process() noexcept { return ::getpid(); }

int parent_process() noexcept { return ::getppid(); }

}  // namespace rota::os
