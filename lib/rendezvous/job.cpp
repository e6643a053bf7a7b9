// The fields of a job, one after the other.
#include "rendezvous/job.h"

#include <cstring>

#include "base/byte_stream.h"

namespace rota::rendezvous {

Lent lent_for(std::string_view transport) noexcept {
  if (transport == "shm") return Lent::kArenas;
  if (transport == "tcp") return Lent::kListener;
  return Lent::kNothing;
}

std::size_t lent_count(const Job& job) noexcept {
  if (!job.lends) return 0;
  switch (lent_for(job.table.transport)) {
    case Lent::kArenas:
      return job.table.rows.size();
    case Lent::kListener:
      return 1;
    case Lent::kNothing:
      break;
  }
  return 0;
}

std::string encode(const Job& job) {
  base::ByteWriter out;
  out.write(static_cast<std::uint64_t>(job.rank));
  const auto key = job.key.bytes();
  out.write(std::string_view(reinterpret_cast<const char*>(key.data()), key.size()));
  out.write(static_cast<std::uint64_t>(job.deadline.count()));
  out.write(static_cast<std::uint8_t>(job.may_spin));
  out.write(static_cast<std::uint8_t>(job.verbose));
  out.write(static_cast<std::uint8_t>(job.lends));
  out.write(job.table.epoch);
  out.write(job.table.source);
  out.write(job.table.transport);
  out.write(static_cast<std::uint32_t>(job.table.rows.size()));
  for (const RankRow& row : job.table.rows) {
    out.write(static_cast<std::uint64_t>(row.local_rank));
    out.write(row.host);
    out.write(row.address);
    out.write(row.cores);
  }
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<Job> decode_job(std::string_view text) {
  base::ByteReader in(std::as_bytes(std::span(text)));
  Job job;
  job.rank = in.read<std::uint64_t>();
  const std::string key = in.read_text();
  if (key.size() != auth::kKeyBytes) return std::nullopt;
  std::memcpy(job.key.bytes().data(), key.data(), key.size());
  job.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(in.read<std::uint64_t>()));
  job.may_spin = in.read<std::uint8_t>() != 0;
  job.verbose = in.read<std::uint8_t>() != 0;
  job.lends = in.read<std::uint8_t>() != 0;
  job.table.epoch = in.read<std::uint64_t>();
  job.table.source = in.read_text();
  job.table.transport = in.read_text();
  const auto count = in.read<std::uint32_t>();
  if (!in.ok() || count == 0 || count > kMaxWorldSize || job.rank >= count) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) {
    RankRow row;
    row.local_rank = in.read<std::uint64_t>();
    row.host = in.read_text();
    row.address = in.read_text();
    row.cores = in.read_text();
    job.table.rows.push_back(std::move(row));
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return job;
}

}  // namespace rota::rendezvous
