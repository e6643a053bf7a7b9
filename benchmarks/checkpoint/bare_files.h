// The limits of this machine beside which saving and restoring are measured: the same bytes without
// a manifest, without names and without an agreement of ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "checkpoint/state.h"

namespace rota::bench {

// Copies the state to `copy`, which has its size, in one thread.
void copy_bare(const ExampleState& state, std::span<std::byte> copy);

// Writes one file to `folder`, syncs it, renames it to its name and syncs the folder: the least
// that a durable save can do. Replaces the file of the call before.
void write_bare(const ExampleState& state, const std::filesystem::path& folder);

// Reads all files of `folder` and sums them, MiB by MiB. Returns the CRC-32C. In the first function
// each MiB takes the place of the one before, so the bytes stay in a cache. The second function
// puts them into `to`, whose size they must not exceed by more than 1 MiB of headers.
std::uint32_t read_through(const std::filesystem::path& folder);
std::uint32_t read_into(const std::filesystem::path& folder, std::span<std::byte> to);

}  // namespace rota::bench
