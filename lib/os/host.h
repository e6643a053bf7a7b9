// What this process may ask its host: a name, memory, CPUs, descriptors, randomness.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rota::os {

std::string host_name();

std::uint64_t physical_memory_bytes();

// The size that no file of this process may exceed, memfds included.
std::uint64_t file_size_limit_bytes();

// What a process may lock in memory; UINT64_MAX: no limit.
std::uint64_t locked_memory_limit_bytes();

// As the kernel names it: "x86_64", "aarch64".
std::string architecture();

// The CPUs that the affinity mask allows, which a cpuset has narrowed already. Throws Error
// kSystem.
std::vector<int> allowed_cpus();

// Bytes that nobody can guess. Throws Error kSystem.
void fill_with_randomness(std::span<std::byte> bytes);

// Leaves zeros, also where nobody will look at them.
void wipe(std::span<std::byte> bytes) noexcept;

// Whether AES takes this CPU a few cycles rather than many.
bool has_aes_instructions() noexcept;

// How many files this process may have open: now, and at most.
struct OpenFileLimits {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};
OpenFileLimits open_file_limits() noexcept;

// Lets this process open as many files as the hard limit permits; returns the limit before.
std::uint64_t raise_open_file_limit() noexcept;

// The width of the terminal that `fd` is; empty where it is none.
std::optional<int> terminal_columns(int fd) noexcept;

// Both descriptors lead to the same pipe, terminal or file.
bool are_same_file(int first, int second) noexcept;

// The variables of this process, "NAME=VALUE".
std::vector<std::string> environment();

// The path of the program that this process runs. Throws Error kSystem.
std::string own_executable();

// This process, and the one that started it.
int own_process() noexcept;
int parent_process() noexcept;

}  // namespace rota::os
