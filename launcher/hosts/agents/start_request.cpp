// Encodes and decodes start requests: the length, then the fields of one host, then the fields of
// all hosts. The key comes last. A host that an agent started learns its job from these bytes.
#include "launcher/hosts/agents/start_request.h"

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

// How long a start request may take to arrive. Its sender already runs, so the request is due
// immediately.
constexpr std::chrono::seconds kStartTimeout{30};

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

// Reads exactly `count` bytes, into memory that no core file contains: the key is among them.
os::SecretMemory read_bytes(int fd, std::size_t count, base::TimePoint deadline) {
  os::SecretMemory memory(count);
  const std::span<char> bytes(reinterpret_cast<char*>(memory.bytes().data()), count);
  std::size_t read = 0;
  while (read < count) {
    os::PollSet polls;
    const std::size_t position = polls.add(fd, true, false);
    polls.wait(deadline);
    if (!polls.readable(position)) {
      throw Error(ErrorCode::kTimeout, "--follow: no start request arrived within " +
                                           base::to_text(kStartTimeout) +
                                           "; this option is only for --agent");
    }
    const os::ReadResult result = os::read_available(fd, bytes.subspan(read));
    if (result.io == os::Io::kClosed) {
      throw Error(ErrorCode::kBadData,
                  "--follow: standard input ended before the start request; this option is only "
                  "for --agent");
    }
    read += result.count;
  }
  return memory;
}

}  // namespace

std::string encode_own(const StartRequest& request, std::size_t common_bytes) {
  base::ByteWriter out;
  out.write(request.version);
  write_host(out, request.own_host);
  out.write(request.leader);
  const auto fields = out.take();
  base::ByteWriter length;
  length.write(static_cast<std::uint32_t>(fields.size() + common_bytes));
  const auto head = length.take();
  std::string text(reinterpret_cast<const char*>(head.data()), head.size());
  text.append(reinterpret_cast<const char*>(fields.data()), fields.size());
  return text;
}

std::string encode_common(const StartRequest& request) {
  base::ByteWriter out;
  write_all(out, request.arguments);
  write_all(out, request.working_directories);
  for (const auto& of_group : request.variables) write_all(out, of_group);
  out.write(request.output_directory);
  out.write(request.hosts);
  out.write(static_cast<std::uint32_t>(request.most_slots.size()));
  for (const std::size_t most : request.most_slots) out.write(static_cast<std::uint32_t>(most));
  out.write(request.job_id);
  write_host(out, request.leader_host);
  const auto fields = out.take();
  std::string text(fields.size() + auth::kKeyBytes, '\0');
  const auto bytes = std::as_writable_bytes(std::span(text));
  std::ranges::copy(fields, bytes.begin());
  os::copy_secret(request.key.bytes(), bytes.last<auth::kKeyBytes>());
  return text;
}

StartRequest read_start_request(int fd) {
  const base::TimePoint deadline = base::Clock::now() + kStartTimeout;
  const os::SecretMemory head = read_bytes(fd, sizeof(std::uint32_t), deadline);
  const std::size_t count = base::ByteReader(head.bytes()).read<std::uint32_t>();
  const Error nonsense(ErrorCode::kBadData,
                       "--follow: standard input is not a start request of this version of "
                       "rotarun; this option is only for --agent");
  if (count < auth::kKeyBytes || count > kMaxStartRequestBytes) throw Error(nonsense);
  const os::SecretMemory memory = read_bytes(fd, count, deadline);
  const std::span<const std::byte> bytes = memory.bytes();
  base::ByteReader in(bytes.first(bytes.size() - auth::kKeyBytes));
  StartRequest request;
  os::copy_secret(bytes.last<auth::kKeyBytes>(), request.key.bytes());
  request.version = in.read_text();
  request.own_host = read_host(in);
  request.leader = in.read_text();
  request.arguments = read_all(in);
  request.working_directories = read_all(in);
  for (std::size_t group = 0; group < request.working_directories.size(); ++group) {
    request.variables.push_back(read_all(in));
  }
  request.output_directory = in.read_text();
  request.hosts = in.read_text();
  const auto host_count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < host_count && in.ok(); ++i) {
    request.most_slots.push_back(in.read<std::uint32_t>());
  }
  request.job_id = in.read_text();
  request.leader_host = read_host(in);
  if (!in.ok() || !in.at_end()) throw Error(nonsense);
  return request;
}

}  // namespace rota::launcher
