// The table of a job as text. All ranks have the same one, and it is long: it travels once to each
// host, and reaches the ranks there as one file. What a rank is told of it is which text it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rota/rank_table.h>

#include "base/byte_stream.h"
#include "base/islands.h"
#include "os/fd.h"

namespace rota::rendezvous {

inline constexpr std::size_t kMaxWorldSize = 4096;

// A KiB for each rank of the largest world.
inline constexpr std::size_t kMaxTableBytes = kMaxWorldSize * 1024;

// `islands`: empty, unless the transport is one of islands.
std::string encode_table(const RankTable& table, const base::Islands& islands);

struct Places {
  RankTable table;
  base::Islands islands;
};
// Empty when `text` is not a whole, well-formed table.
std::optional<Places> decode_table(std::string_view text);

// Tells one text from another. Who may say which it is has been proved before, so nobody makes two
// of one mark.
struct TableMark {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const TableMark&, const TableMark&) = default;
};
TableMark mark_of(std::string_view table_text);
void write(const TableMark& mark, base::ByteWriter& out);
TableMark read_mark(base::ByteReader& in);
std::string encode(const TableMark& mark);

// What the ranks of a host read. Throws Error kSystem.
os::Fd make_table_file(std::string_view table_text);

// Throws Error kSystem where the file holds another text than the mark says.
std::string read_table_file(const os::Fd& file, const TableMark& mark);

}  // namespace rota::rendezvous
