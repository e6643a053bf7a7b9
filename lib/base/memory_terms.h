// The terms of docs/memory.md that depend on the world alone: upper bounds of the memory that a
// rank takes for communication, in bytes.
#pragma once
#include <cstdint>

namespace rota::base {

// Returns the term "communicator".
constexpr std::uint64_t communicator_bytes(std::uint64_t world_size) noexcept {
  return 24 * 1024 + 1536 * world_size;
}

// Returns the term "front", or "group". `sharing_count` ranks share memory.
constexpr std::uint64_t front_bytes(std::uint64_t sharing_count) noexcept {
  constexpr std::uint64_t kPage = 4096;
  return kPage + (192 * sharing_count + kPage - 1) / kPage * kPage;
}

// Returns the term "encryption".
constexpr std::uint64_t encryption_bytes(std::uint64_t peer_count) noexcept {
  return (448 + 64 * peer_count) * 1024;
}

// Returns the steps, dependencies and lanes of a plan without a codec.
constexpr std::uint64_t plan_table_bytes(std::uint64_t world_size) noexcept {
  return 768 * world_size;
}

// Returns the term "plans" of one distinct call.
constexpr std::uint64_t plan_bytes(std::uint64_t world_size) noexcept {
  return plan_table_bytes(world_size) + 512;
}

// How a rank reaches the other ranks of its world.
struct Connections {
  std::uint64_t world_size = 2;     // At least 2.
  std::uint64_t sharing_count = 0;  // Ranks of a shared-memory domain; 0: no memory is shared.
  bool has_tcp = false;
  bool encrypts = false;
  std::uint64_t stage_count = 0;  // The p of the term "stages".
};

// Returns the sum of the terms "coordinator", "front", "keys", "proof", "encryption",
// "communicator" and "stages". The calls of the rank take further memory.
constexpr std::uint64_t connection_bytes(const Connections& rank) noexcept {
  constexpr std::uint64_t kCoordinator = 64 * 1024;
  constexpr std::uint64_t kKeys = 4 * 1024;
  constexpr std::uint64_t kProof = 192 * 1024;
  constexpr std::uint64_t kStage = 256 * 1024;
  std::uint64_t bytes = kCoordinator + kKeys + communicator_bytes(rank.world_size);
  if (rank.sharing_count > 0) bytes += front_bytes(rank.sharing_count);
  if (rank.has_tcp) bytes += kProof;
  if (rank.encrypts) bytes += encryption_bytes(rank.world_size - 1);
  return bytes + kStage * rank.stage_count;
}

}  // namespace rota::base
