// What the launcher tells every rank when it joins: its table, and the text of kWelcome with all
// else.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rota/rank_table.h>

#include "auth/key.h"
#include "base/islands.h"
#include "rendezvous/table_text.h"

namespace rota::rendezvous {

struct Job {
  RankTable table;        // table.transport is decided by the launcher.
  std::size_t rank = 0;   // The receiver's own.
  auth::Key key{};        // Drawn anew for each job; with it ranks know each other over tcp.
  base::Islands islands;  // Where the transport does not say them, else empty.
  std::uint64_t incarnation = 0;  // Tells its runs apart where they have one key; 0: they do not.
  std::chrono::nanoseconds deadline{0};  // Of one collective.
  bool may_spin = false;                 // Ranks do not outnumber the granted cores.
  bool verbose = false;                  // Ranks say what they decide, and why.
  bool encrypts = false;                 // What goes over tcp, with the key.
  bool lends = true;                     // Descriptors; otherwise ranks have brought their own.
};

// How many descriptors travel with each rank's kWelcome, behind that of the table; more than
// os::kMaxMessageFds in all follow in further kWelcome messages without text. Where the ranks of
// its transport listen, the first is the receiver's own listening socket, bound to its address in
// the table. Where it shares memory, one memfd for each rank of its island follows, in their order:
// that rank's arena.
std::size_t lent_count(const Job& job) noexcept;

// All but the table, which is the one that has this mark. The text has the key in it, and so have
// the message that it becomes and the buffers on its way to the rank: whoever has done with one of
// these wipes it. Nothing else here leaves a copy.
std::string encode(const Job& job, const TableMark& table);

// An encoded job with another key, or with zeros in place of it: what travels to another host does
// so without it. `text` is of encode().
std::string with_key(std::string text, const auth::Key& key);
std::string without_key(std::string text);

struct Terms {
  Job job;  // Without its table.
  TableMark table;
};
// Empty when `text` is not whole and well-formed.
std::optional<Terms> decode_job(std::string_view text);

// Puts the table in. False where `table_text` is none, or has no row for the job's rank.
bool add_table(std::string_view table_text, Job& job);

}  // namespace rota::rendezvous
