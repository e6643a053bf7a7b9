// The fastest measured plans in one topology. rota-bench tune writes these plans to a file, and a
// job reads the file.
//
//   rota-tuned 1                 # What the file is, and the version of its form.
//   transport tcp encrypted      # Or shm, tcp, shm+tcp, shm+tcp encrypted.
//   hosts 0-1 2-3                # The ranks of each host.
//   all-reduce 0 direct          # The plan from this number of bytes on. The first line
//   all-reduce 32768 ring        # starts at 0, and the numbers ascend.
//
// Text after '#' is a comment.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/plan.h"
#include "communicator/topology.h"

namespace rota {

struct TunedTable {
  struct Row {
    std::size_t from_bytes = 0;
    collectives::Algorithm algorithm = collectives::Algorithm::kRing;
    friend bool operator==(const Row&, const Row&) = default;
  };

  Topology topology;
  std::vector<Row> all_reduce;  // Never empty; ascending, from 0.
  friend bool operator==(const TunedTable&, const TunedTable&) = default;
};

// The largest size of a file in bytes: its text travels to all ranks in one message.
inline constexpr std::size_t kMaxTunedBytes = std::size_t{32} * 1024;

// Parses a tuned file. `name` names the text in errors. Throws Error kInvalidArgument, which names
// the line.
TunedTable parse_tuned(const std::string& name, std::string_view text);

// Returns the text that parse_tuned() reads, without comments.
std::string to_text(const TunedTable& table);

// Returns the plan of an all-reduce of `bytes` bytes.
collectives::Algorithm tuned_all_reduce(const TunedTable& table, std::size_t bytes) noexcept;

}  // namespace rota
