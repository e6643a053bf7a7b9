// The fields of a job but for its table, one after the other. The key comes last, so that it goes
// from the job to the text and back without a step between that would have to be wiped.
#include "rendezvous/job.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_stream.h"

namespace rota::rendezvous {

Lent lent_for(std::string_view transport) noexcept {
  if (transport == "shm") return Lent::kArenas;
  if (transport == "tcp") return Lent::kListener;
  if (transport == base::kMixed) return Lent::kBoth;
  return Lent::kNothing;
}

std::size_t lent_count(const Job& job) noexcept {
  if (!job.lends) return 0;
  switch (lent_for(job.table.transport)) {
    case Lent::kArenas:
      return job.table.rows.size();
    case Lent::kListener:
      return 1;
    case Lent::kBoth: {
      const auto mate_count =
          static_cast<std::size_t>(std::ranges::count(job.islands, job.islands[job.rank]));
      return mate_count == 1 ? 1 : 1 + mate_count;
    }
    case Lent::kNothing:
      break;
  }
  return 0;
}

std::string encode(const Job& job, const TableMark& table) {
  base::ByteWriter out;
  out.write(static_cast<std::uint64_t>(job.rank));
  out.write(static_cast<std::uint64_t>(job.deadline.count()));
  out.write(static_cast<std::uint8_t>(job.may_spin));
  out.write(static_cast<std::uint8_t>(job.verbose));
  out.write(static_cast<std::uint8_t>(job.encrypts));
  out.write(static_cast<std::uint8_t>(job.lends));
  out.write(job.incarnation);
  write(table, out);
  const auto fields = out.take();
  const auto key = job.key.bytes();
  std::string text;
  text.reserve(fields.size() + key.size());  // Once: what a string outgrows it leaves in memory.
  text.append(reinterpret_cast<const char*>(fields.data()), fields.size());
  text.append(reinterpret_cast<const char*>(key.data()), key.size());
  return text;
}

std::string with_key(std::string text, const auth::Key& key) {
  if (text.size() < auth::kKeyBytes) return text;
  const auto bytes = key.bytes();
  std::memcpy(text.data() + text.size() - auth::kKeyBytes, bytes.data(), bytes.size());
  return text;
}

std::string without_key(std::string text) { return with_key(std::move(text), auth::Key()); }

std::optional<Terms> decode_job(std::string_view text) {
  const auto bytes = base::bytes_of(text);
  if (bytes.size() < auth::kKeyBytes) return std::nullopt;
  base::ByteReader in(bytes.first(bytes.size() - auth::kKeyBytes));
  Terms terms;
  Job& job = terms.job;
  std::ranges::copy(bytes.last<auth::kKeyBytes>(), job.key.bytes().begin());
  job.rank = in.read<std::uint64_t>();
  job.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(in.read<std::uint64_t>()));
  job.may_spin = in.read<std::uint8_t>() != 0;
  job.verbose = in.read<std::uint8_t>() != 0;
  job.encrypts = in.read<std::uint8_t>() != 0;
  job.lends = in.read<std::uint8_t>() != 0;
  job.incarnation = in.read<std::uint64_t>();
  terms.table = read_mark(in);
  if (!in.ok() || !in.at_end() || terms.table.bytes > kMaxTableBytes) return std::nullopt;
  return terms;
}

bool add_table(std::string_view table_text, Job& job) {
  auto places = decode_table(table_text);
  if (!places || job.rank >= places->table.rows.size()) return false;
  job.table = std::move(places->table);
  job.islands = std::move(places->islands);
  return true;
}

}  // namespace rota::rendezvous
