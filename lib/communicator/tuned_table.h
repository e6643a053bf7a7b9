// The plans that were measured to be the fastest in one topology: what rota-bench tune writes into
// a file, and what a job takes from it.
//
//   rota-tuned 1                 # What the file is, and the version of its form.
//   transport tcp encrypted      # Or shm, tcp, shm+tcp, shm+tcp encrypted.
//   hosts 0-1 2-3                # The ranks of each host.
//   all-reduce 0 direct          # From so many bytes on, this plan:
//   all-reduce 32768 ring        # from 0 on, then in ascending order.
//
// What follows a '#' is for people.
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

// The file's longest text: it travels to all ranks in one message.
inline constexpr std::size_t kMaxTunedBytes = std::size_t{32} * 1024;

// `name` stands for the text in errors. Throws Error kInvalidArgument, naming the line.
TunedTable parse_tuned(const std::string& name, std::string_view text);

// What parse_tuned reads; without comments.
std::string to_text(const TunedTable& table);

// The plan of an all-reduce of so many bytes.
collectives::Algorithm tuned_all_reduce(const TunedTable& table, std::size_t bytes) noexcept;

}  // namespace rota
