// Has the data that every rank receives when it joins: the rank table, and all other data in the
// text of kWelcome.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rota/rank_table.h>

#include "auth/key.h"
#include "base/domains.h"
#include "rendezvous/table_text.h"

namespace rota::rendezvous {

struct Job {
  RankTable table;                // Its transport is decided already.
  std::size_t rank = 0;           // The receiver's rank.
  auth::Key key{};                // For TCP between ranks; zeros if each rank has the key already.
  base::Domains domains;          // Of each rank; empty if the transport implies them.
  std::uint64_t incarnation = 0;  // Tells runs with one key apart; 0: each run has its own key.
  std::chrono::nanoseconds deadline{0};  // Of one collective.
  bool may_spin = false;                 // Ranks do not outnumber the granted cores.
  bool verbose = false;                  // Ranks report what they decide, and why.
  bool encrypts = false;                 // TCP traffic is encrypted with the key.
  bool hands_descriptors = true;         // If false, ranks have their own.
};

// Returns how many descriptors are handed over with each rank's kWelcome, after the table's
// descriptor. Descriptors that do not fit into os::kMaxMessageFds follow in further kWelcome
// messages without text. If the ranks of the transport listen, the first descriptor is the
// receiver's own listening socket, bound to its address in the table. If the receiver shares
// memory, the arenas follow: one memfd for each rank of its domain, in the order of ranks.
std::size_t descriptor_count(const Job& job) noexcept;

// Encodes all members of `job` except the table. In place of the table, the text has `table`, the
// mark by which a rank recognizes the right table. The text contains the key. The message made from
// the text contains the key too, and so does every buffer that the message passes through: the
// owner of each buffer must wipe it after use. Nothing else here leaves a copy of the key.
std::string encode(const Job& job, const TableMark& table);

// Both functions return `text` with another key, or with zeros in place of the key: a job travels
// to another host without its key. `text` must come from encode().
std::string with_key(std::string text, const auth::Key& key);
std::string without_key(std::string text);

struct Terms {
  Job job;  // Without its table.
  TableMark table;
};
// Returns nothing if `text` is not complete and well-formed.
std::optional<Terms> decode_job(std::string_view text);

// Adds the table to the job. Returns false if `table_text` is not a table, or has no row for the
// job's rank.
bool add_table(std::string_view table_text, Job& job);

}  // namespace rota::rendezvous
