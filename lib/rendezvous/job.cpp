// The fields of a job, one after the other. The key comes last, so that it goes from the job to the
// text and back without a step between that would have to be wiped.
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

std::string encode(const Job& job) {
  base::ByteWriter out;
  out.write(static_cast<std::uint64_t>(job.rank));
  out.write(static_cast<std::uint64_t>(job.deadline.count()));
  out.write(static_cast<std::uint8_t>(job.may_spin));
  out.write(static_cast<std::uint8_t>(job.verbose));
  out.write(static_cast<std::uint8_t>(job.encrypts));
  out.write(static_cast<std::uint8_t>(job.lends));
  out.write(job.incarnation);
  out.write(job.table.epoch);
  out.write(job.table.source);
  out.write(job.table.transport);
  out.write(job.table.tuned);
  out.write(static_cast<std::uint32_t>(job.table.rows.size()));
  for (const RankRow& row : job.table.rows) {
    out.write(static_cast<std::uint64_t>(row.local_rank));
    out.write(row.host);
    out.write(row.address);
    out.write(row.cores);
  }
  for (const std::uint32_t island : job.islands) out.write(island);
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

std::optional<Job> decode_job(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  if (bytes.size() < auth::kKeyBytes) return std::nullopt;
  base::ByteReader in(bytes.first(bytes.size() - auth::kKeyBytes));
  Job job;
  std::ranges::copy(bytes.last<auth::kKeyBytes>(), job.key.bytes().begin());
  job.rank = in.read<std::uint64_t>();
  job.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(in.read<std::uint64_t>()));
  job.may_spin = in.read<std::uint8_t>() != 0;
  job.verbose = in.read<std::uint8_t>() != 0;
  job.encrypts = in.read<std::uint8_t>() != 0;
  job.lends = in.read<std::uint8_t>() != 0;
  job.incarnation = in.read<std::uint64_t>();
  job.table.epoch = in.read<std::uint64_t>();
  job.table.source = in.read_text();
  job.table.transport = in.read_text();
  job.table.tuned = in.read_text();
  const auto count = in.read<std::uint32_t>();
  if (!in.ok() || count == 0 || count > kMaxWorldSize || job.rank >= count) return std::nullopt;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    RankRow row;
    row.local_rank = in.read<std::uint64_t>();
    row.host = in.read_text();
    row.address = in.read_text();
    row.cores = in.read_text();
    job.table.rows.push_back(std::move(row));
  }
  const bool has_islands = job.table.transport == base::kMixed;
  for (std::uint32_t i = 0; i < count && has_islands && in.ok(); ++i) {
    job.islands.push_back(in.read<std::uint32_t>());
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  if (has_islands && base::transport_between(job.islands) != base::kMixed) return std::nullopt;
  return job;
}

}  // namespace rota::rendezvous
