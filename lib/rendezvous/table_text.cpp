// Encodes and decodes the rows, one after the other. If some ranks share memory, the domain of each
// rank follows.
#include "rendezvous/table_text.h"

#include <utility>

#include <rota/error.h>

#include "base/hash.h"
#include "base/sizes.h"
#include "base/transports.h"
#include "os/sealed_file.h"

namespace rota::rendezvous {
namespace {}  // namespace

std::string encode_table(const RankTable& table, const base::Domains& domains) {
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
  for (const std::uint32_t domain : domains) out.write(domain);
  return out.take_text();
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
    const auto local_rank = base::as_size(in.read<std::uint64_t>());
    if (!local_rank) return std::nullopt;
    row.local_rank = *local_rank;
    row.host = in.read_text();
    row.address = in.read_text();
    row.cores = in.read_text();
    table.rows.push_back(std::move(row));
  }
  const bool has_domains = base::sharing_over(table.transport) == base::Sharing::kDomain;
  for (std::uint32_t i = 0; i < count && has_domains && in.ok(); ++i) {
    places.domains.push_back(in.read<std::uint32_t>());
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  const bool fits = !has_domains || base::sharing_between(places.domains) == base::Sharing::kDomain;
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
  return out.take_text();
}

os::Fd make_table_file(std::string_view table_text) {
  return os::make_sealed_file("rota-table", table_text);
}

std::string read_table_file(const os::Fd& file, const TableMark& mark) {
  std::string text = os::read_sealed_file(file, static_cast<std::size_t>(mark.bytes));
  if (mark_of(text) == mark) return text;
  throw Error(ErrorCode::kSystem,
              "the rank table that this rank was given differs from the table of the job, in its "
              "length (" +
                  std::to_string(text.size()) + " bytes, expected " + std::to_string(mark.bytes) +
                  ") or in its contents");
}

}  // namespace rota::rendezvous
