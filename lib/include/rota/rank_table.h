// Who takes part: one row a rank, the same table on every rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rota/export.h>

namespace rota {

struct RankRow {
  std::size_t local_rank = 0;  // Position among the ranks of its host.
  std::string host{};
  std::string address{};  // "127.0.0.1:41234" where the rank listens; empty where it does not.
  std::string cores{};    // "0-3" where the rank is bound; empty where it is not.
};

struct RankTable {
  std::uint64_t epoch = 0;
  std::string source;         // What the table was made from, such as "rotarun -np 4".
  std::string transport;      // "shm", "tcp", "shm+tcp", or "none" in a world of one.
  std::string tuned{};        // The file that plans are chosen by; empty: the default table.
  std::vector<RankRow> rows;  // Index = rank.
};

// A table for JobByHand: rank r listens at addresses[r], "host:port".
ROTA_EXPORT RankTable table_of(const std::vector<std::string>& addresses);

// The table as a person reads it: a header line, then a line a rank, each ended by a newline.
ROTA_EXPORT std::string to_text(const RankTable& table);

}  // namespace rota
