// Defines the rank table: one row for each rank, the same on every rank.
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
  std::string address{};  // Where the rank listens: "127.0.0.1:41234". Empty if it does not.
  std::string cores{};    // The cores that the rank is bound to: "0-3". Empty if it is not bound.
};

struct RankTable {
  std::uint64_t epoch = 0;    // Number of the restart: ranks of different epochs do not connect.
  std::string source;         // What the table was made from, such as "rotarun -np 4".
  std::string transport;      // "shm", "tcp", "shm+tcp", "mpi"; a world of one: "none".
  std::string tuned{};        // The tuned file that plans are chosen from; empty: the defaults.
  std::vector<RankRow> rows;  // Index = rank.
};

// Makes a table for JobByHand: rank r listens at addresses[r], "host:port".
ROTA_EXPORT RankTable table_of(const std::vector<std::string>& addresses);

// Returns the table as readable text: a header line, then one line for each rank. Each line ends
// with a newline.
ROTA_EXPORT std::string to_text(const RankTable& table);

}  // namespace rota
