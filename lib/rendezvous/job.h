// What the launcher tells every rank when it joins: the text of kWelcome.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <rota/rank_table.h>

namespace rota::rendezvous {

struct Job {
  RankTable table;                    // table.transport is "shm" or "tcp", decided by the launcher.
  std::size_t rank = 0;               // The receiver's own.
  std::array<std::byte, 16> nonce{};  // Drawn anew for each job; the tcp hello carries it.
  std::chrono::nanoseconds deadline{0};  // Of one collective.
  bool may_spin = false;                 // Ranks do not outnumber the granted cores.
};

// The descriptors that travel with kWelcome, in this order:
//   transport "shm": one memfd a rank, in rank order: its arena;
//   transport "tcp": the receiver's own listening socket, bound to its address in the table.
// More than os::kMaxMessageFds of them follow in further kWelcome messages without text.
inline constexpr std::size_t kMaxWorldSize = 4096;

std::string encode(const Job& job);

// Empty when `text` is not a whole, well-formed job.
std::optional<Job> decode_job(std::string_view text);

}  // namespace rota::rendezvous
