// Rows, one after the other; then, where some ranks share memory, the island of each.
#include "rendezvous/table_text.h"

#include <utility>

#include <rota/error.h>

#include "base/hash.h"
#include "base/transports.h"
#include "os/sealed_file.h"

namespace rota::rendezvous {
namespace {

std::string text_of(base::ByteWriter out) {
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string encode_table(const RankTable& table, const base::Islands& islands) {
  base::ByteWriter out;
  out.write(table.epoch);
  out.write(table.source);
  out.write(table.transport);
  out.write(table.tuned);
  out.write(static_cast<std::uint32_t>(table.rows.size()));
  for (const RankRow& row : table.rows) {
    out.write(static_cast<std::uint64_t>(row.local_rank));
    out.write(row.host);
    out.write(row.address);
    out.write(row.cores);
  }
  for (const std::uint32_t island : islands) out.write(island);
  return text_of(std::move(out));
}

std::optional<Places> decode_table(std::string_view text) {
  base::ByteReader in(base::bytes_of(text));
  Places places;
  RankTable& table = places.table;
  table.epoch = in.read<std::uint64_t>();
  table.source = in.read_text();
  table.transport = in.read_text();
  table.tuned = in.read_text();
  const auto count = in.read<std::uint32_t>();
  if (!in.ok() || count == 0 || count > kMaxWorldSize) return std::nullopt;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    RankRow row;
    row.local_rank = in.read<std::uint64_t>();
    row.host = in.read_text();
    row.address = in.read_text();
    row.cores = in.read_text();
    table.rows.push_back(std::move(row));
  }
  const bool has_islands = base::sharing_over(table.transport) == base::Sharing::kIsland;
  for (std::uint32_t i = 0; i < count && has_islands && in.ok(); ++i) {
    places.islands.push_back(in.read<std::uint32_t>());
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  const bool fits = !has_islands || base::sharing_between(places.islands) == base::Sharing::kIsland;
  if (!fits) return std::nullopt;
  return places;
}

TableMark mark_of(std::string_view table_text) {
  return {table_text.size(), base::fnv1a(base::bytes_of(table_text))};
}

void write(const TableMark& mark, base::ByteWriter& out) {
  out.write(mark.bytes);
  out.write(mark.hash);
}

TableMark read_mark(base::ByteReader& in) {
  TableMark mark;
  mark.bytes = in.read<std::uint64_t>();
  mark.hash = in.read<std::uint64_t>();
  return mark;
}

std::string encode(const TableMark& mark) {
  base::ByteWriter out;
  write(mark, out);
  return text_of(std::move(out));
}

os::Fd make_table_file(std::string_view table_text) {
  return os::make_sealed_file("rota-table", table_text);
}

std::string read_table_file(const os::Fd& file, const TableMark& mark) {
  std::string text = os::read_sealed_file(file, static_cast<std::size_t>(mark.bytes));
  if (mark_of(text) == mark) return text;
  throw Error(ErrorCode::kSystem,
              "the rank table that this rank was given is not the job's: it has " +
                  std::to_string(text.size()) + " bytes of " + std::to_string(mark.bytes) +
                  ", or others");
}

}  // namespace rota::rendezvous
