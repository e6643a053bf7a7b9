// Asks the system about this host and this process: name, memory, CPUs, descriptors, random bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rota::os {

std::string host_name();

// Returns 16 digits that are the same for two processes if they run under one kernel and in one
// network namespace, so that they can meet at a local name (os/address.h). On a system without
// /proc, the digits depend on the host's name alone.
std::string machine_id();

std::uint64_t physical_memory_bytes();

// Returns the size of a page of memory, which is a power of two: 4 KiB on x86, up to 64 KiB on ARM.
std::size_t page_bytes() noexcept;

// Returns the largest size of a file that this process may make, memfds included. UINT64_MAX means
// no limit.
std::uint64_t file_size_limit_bytes();

// Returns whether a file of `bytes` is larger than that. Ask before a write: a write beyond the
// limit would end the process by SIGXFSZ.
bool is_beyond_file_limit(std::uint64_t bytes);

// Returns how many bytes of addresses this process may have (ulimit -v), and how many of them are
// still free. UINT64_MAX means no limit.
std::uint64_t address_limit_bytes();
std::uint64_t free_address_bytes();

// Returns how many processes and threads the user of this process may have (ulimit -u). UINT64_MAX
// means no limit: root has none.
std::uint64_t process_limit();

// Returns how many bytes a process may lock in memory. UINT64_MAX means no limit.
std::uint64_t locked_memory_limit_bytes();

// Returns the name that the kernel uses, such as "x86_64" or "aarch64".
std::string architecture();

// Returns the CPUs that the affinity mask allows. The mask has no CPU that the process's cpuset
// excludes. Throws Error kSystem.
std::vector<int> allowed_cpus();

// Fills `bytes` with random bytes that nobody can guess. Throws Error kSystem.
void fill_with_randomness(std::span<std::byte> bytes);

// Overwrites `bytes` with zeros, even if no code reads `bytes` afterwards. Overwrites also the
// registers with which `bytes` may have been copied.
void wipe(std::span<std::byte> bytes) noexcept;

// Returns whether this CPU has instructions for AES. Without them, ChaCha20 is faster than AES.
bool has_aes_instructions() noexcept;

// This process's limit of open files (soft), and the highest limit that the process can set (hard).
struct OpenFileLimits {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};
OpenFileLimits open_file_limits() noexcept;

// Raises the limit of open files to the hard limit. Returns the old limit, or 0 on failure.
std::uint64_t raise_open_file_limit() noexcept;

// Returns the width of the terminal `fd` in columns, or nothing when `fd` is not a terminal.
std::optional<int> terminal_columns(int fd) noexcept;

// Returns whether both descriptors lead to the same pipe, terminal or file.
bool are_same_file(int first, int second) noexcept;

// Returns the environment variables of this process, each as "NAME=VALUE".
std::vector<std::string> environment();

// Returns the path of the program that this process runs. Throws Error kSystem.
std::string own_executable();

// The next two functions return the process IDs of this process and of its parent.
int own_process() noexcept;
int parent_process() noexcept;

}  // namespace rota::os
