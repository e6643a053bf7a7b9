// Orders as bytes: their length, the fields of one host, then those of all; the key comes last.
#include "launcher/hosts/agents/orders.h"

#include <algorithm>
#include <span>
#include <utility>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "base/time.h"
#include "os/pipe.h"
#include "os/poll_set.h"
#include "os/secret_memory.h"

namespace rota::launcher {
namespace {

// How long they may take: the other side of the pipe is a program that has just been started.
constexpr std::chrono::seconds kPatience{30};

constexpr std::uint32_t kNoHost = UINT32_MAX;

void write_all(base::ByteWriter& out, const std::vector<std::string>& texts) {
  out.write(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) out.write(text);
}

std::vector<std::string> read_all(base::ByteReader& in) {
  std::vector<std::string> texts;
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) texts.push_back(in.read_text());
  return texts;
}

void write_host(base::ByteWriter& out, std::optional<std::size_t> host) {
  out.write(host ? static_cast<std::uint32_t>(*host) : kNoHost);
}

std::optional<std::size_t> read_host(base::ByteReader& in) {
  const auto host = in.read<std::uint32_t>();
  return host == kNoHost ? std::nullopt : std::optional<std::size_t>(host);
}

// So many bytes, and no more: in memory that no core file has, since the key is among them.
os::SecretMemory read_bytes(int fd, std::size_t count, base::TimePoint deadline) {
  os::SecretMemory memory(count);
  const std::span<char> bytes(reinterpret_cast<char*>(memory.bytes().data()), count);
  std::size_t read = 0;
  while (read < count) {
    os::PollSet polls;
    const std::size_t position = polls.add(fd, true, false);
    polls.wait(deadline);
    if (!polls.readable(position)) {
      throw Error(ErrorCode::kTimeout,
                  "--follow: no orders came within " + base::to_text(kPatience) +
                      "; it is for a rotarun that another one starts, see --agent");
    }
    const os::ReadResult result = os::read_available(fd, bytes.subspan(read));
    if (result.io == os::Io::kClosed) {
      throw Error(ErrorCode::kBadData,
                  "--follow: its input ended before the orders; it is for a rotarun that another "
                  "one starts, see --agent");
    }
    read += result.count;
  }
  return memory;
}

}  // namespace

std::string encode_own(const Orders& orders, std::size_t common_bytes) {
  base::ByteWriter out;
  out.write(orders.version);
  write_host(out, orders.own_host);
  out.write(orders.leader);
  const auto fields = out.take();
  base::ByteWriter length;
  length.write(static_cast<std::uint32_t>(fields.size() + common_bytes));
  const auto head = length.take();
  std::string text(reinterpret_cast<const char*>(head.data()), head.size());
  text.append(reinterpret_cast<const char*>(fields.data()), fields.size());
  return text;
}

std::string encode_common(const Orders& orders) {
  base::ByteWriter out;
  write_all(out, orders.arguments);
  write_all(out, orders.working_directories);
  for (const auto& of_group : orders.variables) write_all(out, of_group);
  out.write(orders.hosts);
  out.write(orders.job_id);
  write_host(out, orders.leader_host);
  const auto fields = out.take();
  std::string text(fields.size() + auth::kKeyBytes, '\0');
  const auto bytes = std::as_writable_bytes(std::span(text));
  std::ranges::copy(fields, bytes.begin());
  os::copy_secret(orders.key.bytes(), bytes.last<auth::kKeyBytes>());
  return text;
}

Orders read_orders(int fd) {
  const base::TimePoint deadline = base::Clock::now() + kPatience;
  const os::SecretMemory head = read_bytes(fd, sizeof(std::uint32_t), deadline);
  const std::size_t count = base::ByteReader(head.bytes()).read<std::uint32_t>();
  const Error nonsense(ErrorCode::kBadData,
                       "--follow: what came are no orders of a rotarun of this version; it is for "
                       "a rotarun that another one starts, see --agent");
  if (count < auth::kKeyBytes || count > kMaxOrderBytes) throw Error(nonsense);
  const os::SecretMemory memory = read_bytes(fd, count, deadline);
  const std::span<const std::byte> bytes = memory.bytes();
  base::ByteReader in(bytes.first(bytes.size() - auth::kKeyBytes));
  Orders orders;
  os::copy_secret(bytes.last<auth::kKeyBytes>(), orders.key.bytes());
  orders.version = in.read_text();
  orders.own_host = read_host(in);
  orders.leader = in.read_text();
  orders.arguments = read_all(in);
  orders.working_directories = read_all(in);
  for (std::size_t group = 0; group < orders.working_directories.size(); ++group) {
    orders.variables.push_back(read_all(in));
  }
  orders.hosts = in.read_text();
  orders.job_id = in.read_text();
  orders.leader_host = read_host(in);
  if (!in.ok() || !in.at_end()) throw Error(nonsense);
  return orders;
}

}  // namespace rota::launcher
