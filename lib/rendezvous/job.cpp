// Encodes the fields of a job, without its table, one after the other. The key comes last: so the
// code copies the key directly between job and text, and there is no other copy to wipe.
#include "rendezvous/job.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/byte_stream.h"
#include "base/sizes.h"
#include "base/transports.h"
#include "os/secret_memory.h"

namespace rota::rendezvous {
namespace {

std::size_t arena_count(const Job& job) noexcept {
  switch (base::sharing_over(job.table.transport)) {
    case base::Sharing::kNone:
      break;
    case base::Sharing::kDomain: {
      const auto count = std::ranges::count(job.domains, job.domains[job.rank]);
      return count == 1 ? 0 : static_cast<std::size_t>(count);
    }
    case base::Sharing::kAll:
      return job.table.rows.size();
  }
  return 0;
}

}  // namespace

std::size_t descriptor_count(const Job& job) noexcept {
  if (!job.hands_descriptors) return 0;
  const std::size_t listener_count = base::listens(job.table.transport) ? 1 : 0;
  return listener_count + arena_count(job);
}

std::string encode(const Job& job, const TableMark& table) {
  base::ByteWriter out;
  out.write(static_cast<std::uint64_t>(job.rank));
  out.write(static_cast<std::uint64_t>(job.deadline.count()));
  out.write(static_cast<std::uint8_t>(job.may_spin));
  out.write(static_cast<std::uint8_t>(job.verbose));
  out.write(static_cast<std::uint8_t>(job.encrypts));
  out.write(static_cast<std::uint8_t>(job.hands_descriptors));
  out.write(job.incarnation);
  write(table, out);
  const auto fields = out.take();
  // Allocated once: a string that grows leaves its old contents in memory.
  std::string text(fields.size() + auth::kKeyBytes, '\0');
  std::ranges::copy(fields, std::as_writable_bytes(std::span(text)).begin());
  return with_key(std::move(text), job.key);
}

std::string with_key(std::string text, const auth::Key& key) {
  if (text.size() < auth::kKeyBytes) return text;
  os::copy_secret(key.bytes(), std::as_writable_bytes(std::span(text)).last<auth::kKeyBytes>());
  return text;
}

std::string without_key(std::string text) { return with_key(std::move(text), auth::Key()); }

std::optional<Terms> decode_job(std::string_view text) {
  const auto bytes = base::bytes_of(text);
  if (bytes.size() < auth::kKeyBytes) return std::nullopt;
  base::ByteReader in(bytes.first(bytes.size() - auth::kKeyBytes));
  Terms terms;
  Job& job = terms.job;
  os::copy_secret(bytes.last<auth::kKeyBytes>(), job.key.bytes());
  const auto rank = base::as_size(in.read<std::uint64_t>());
  job.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(in.read<std::uint64_t>()));
  job.may_spin = in.read<std::uint8_t>() != 0;
  job.verbose = in.read<std::uint8_t>() != 0;
  job.encrypts = in.read<std::uint8_t>() != 0;
  job.hands_descriptors = in.read<std::uint8_t>() != 0;
  job.incarnation = in.read<std::uint64_t>();
  terms.table = read_mark(in);
  if (!in.ok() || !in.at_end() || !rank || terms.table.bytes > kMaxTableBytes) return std::nullopt;
  job.rank = *rank;
  return terms;
}

bool add_table(std::string_view table_text, Job& job) {
  auto places = decode_table(table_text);
  if (!places || job.rank >= places->table.rows.size()) return false;
  job.table = std::move(places->table);
  job.domains = std::move(places->domains);
  return true;
}

}  // namespace rota::rendezvous
