// Has the rank table of a job as text. The text is long, and it is the same for all ranks. So it
// travels once to each host, and reaches the ranks there as one file. A kWelcome has only the
// table's mark (TableMark).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rota/rank_table.h>

#include "base/byte_stream.h"
#include "base/domains.h"
#include "base/world_size.h"
#include "os/fd.h"

namespace rota::rendezvous {

using base::kMaxWorldSize;

// The limit allows 1 KiB for each rank of the largest world.
inline constexpr std::size_t kMaxTableBytes = kMaxWorldSize * 1024;

// `domains` must be empty unless the transport uses shared-memory domains.
std::string encode_table(const RankTable& table, const base::Domains& domains);

struct Places {
  RankTable table;
  base::Domains domains;
};
// Returns nothing if `text` is not a complete, well-formed table.
std::optional<Places> decode_table(std::string_view text);

// A mark tells one table text from another. The sender of a mark has been authenticated before, so
// no attacker makes two texts with one mark.
struct TableMark {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const TableMark&, const TableMark&) = default;
};
TableMark mark_of(std::string_view table_text);
void write(const TableMark& mark, base::ByteWriter& out);
TableMark read_mark(base::ByteReader& in);
std::string encode(const TableMark& mark);

// Makes the file that the ranks of a host read. Throws Error kSystem.
os::Fd make_table_file(std::string_view table_text);

// Reads the text of the table. Throws Error kSystem if `mark` is not the mark of the file's text.
std::string read_table_file(const os::Fd& file, const TableMark& mark);

}  // namespace rota::rendezvous
