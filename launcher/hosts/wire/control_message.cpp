// Encodes and decodes control messages: their fields, one after the other.
#include "launcher/hosts/wire/control_message.h"

#include <algorithm>
#include <utility>

#include "base/byte_stream.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

base::ByteReader reader_of(std::string_view text) {
  return base::ByteReader(std::as_bytes(std::span(text)));
}

constexpr std::uint32_t kUnknown = UINT32_MAX;

void write(std::optional<std::size_t> number, base::ByteWriter& out) {
  out.write(number ? static_cast<std::uint32_t>(*number) : kUnknown);
}

std::optional<std::size_t> read_number(base::ByteReader& in) {
  const auto number = in.read<std::uint32_t>();
  return number == kUnknown ? std::nullopt : std::optional<std::size_t>(number);
}

bool is_whole(const base::ByteReader& in) { return in.ok() && in.at_end(); }

}  // namespace

std::vector<std::byte> encode(const ControlMessage& message) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(message.type));
  out.write(message.rank);
  out.write(static_cast<std::uint32_t>(message.value));
  out.write(message.text);
  return out.take();
}

std::optional<ControlMessage> decode_control_message(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  const auto type = in.read<std::uint8_t>();
  ControlMessage message{.type = static_cast<ControlMessageType>(type)};
  message.rank = in.read<std::uint32_t>();
  message.value = static_cast<int>(in.read<std::uint32_t>());
  message.text = in.read_text();
  const bool is_known = type >= static_cast<std::uint8_t>(ControlMessageType::kHello) &&
                        type <= static_cast<std::uint8_t>(ControlMessageType::kBeat);
  if (!is_whole(in) || !is_known) return std::nullopt;
  return message;
}

std::string encode(const std::vector<HostText>& by_host) {
  base::ByteWriter out;
  out.write(static_cast<std::uint32_t>(by_host.size()));
  for (const HostText& entry : by_host) {
    out.write(static_cast<std::uint32_t>(entry.host));
    out.write(entry.text);
  }
  return out.take_text();
}

std::optional<std::vector<HostText>> decode_host_texts(std::string_view text) {
  base::ByteReader in = reader_of(text);
  std::vector<HostText> by_host;
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::size_t host = in.read<std::uint32_t>();
    by_host.push_back({host, in.read_text()});
  }
  if (!is_whole(in)) return std::nullopt;
  return by_host;
}

std::string encode(const Hello& hello) {
  base::ByteWriter out;
  out.write(hello.version);
  out.write(hello.host);
  out.write(hello.cluster);
  out.write(static_cast<std::uint32_t>(hello.slot_count));
  write(hello.local_rank, out);
  write(hello.local_count, out);
  out.write(hello.program);
  out.write(static_cast<std::uint32_t>(hello.obstacle_code));
  out.write(hello.obstacle);
  return out.take_text();
}

std::optional<Hello> decode_hello(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Hello hello;
  hello.version = in.read_text();
  hello.host = in.read_text();
  hello.cluster = in.read_text();
  hello.slot_count = in.read<std::uint32_t>();
  hello.local_rank = read_number(in);
  hello.local_count = read_number(in);
  hello.program = in.read_text();
  hello.obstacle_code = static_cast<int>(in.read<std::uint32_t>());
  hello.obstacle = in.read_text();
  const std::size_t most =
      std::max({hello.slot_count, hello.local_rank.value_or(0), hello.local_count.value_or(0)});
  if (!is_whole(in) || most > rendezvous::kMaxWorldSize) return std::nullopt;
  return hello;
}

std::string encode(const HostAssignment& assignment) {
  base::ByteWriter out;
  out.write(assignment.world);
  for (const std::size_t number :
       {assignment.world_size, assignment.host_index, assignment.host_count,
        assignment.earlier_count, assignment.other_count, assignment.ranks.size()}) {
    out.write(static_cast<std::uint32_t>(number));
  }
  out.write(assignment.transport);
  for (std::size_t i = 0; i < assignment.ranks.size(); ++i) {
    out.write(static_cast<std::uint32_t>(assignment.ranks[i]));
    out.write(static_cast<std::uint32_t>(assignment.groups[i]));
  }
  out.write(static_cast<std::uint32_t>(assignment.arenas.size()));
  for (const std::string& path : assignment.arenas) out.write(path);
  out.write(static_cast<std::uint32_t>(assignment.evaluators.size()));
  for (const std::size_t group : assignment.evaluators)
    out.write(static_cast<std::uint32_t>(group));
  out.write(static_cast<std::uint8_t>(assignment.sends_output));
  return out.take_text();
}

std::optional<HostAssignment> decode_assignment(std::string_view text) {
  base::ByteReader in = reader_of(text);
  HostAssignment assignment;
  assignment.world = in.read<std::uint32_t>();
  assignment.world_size = in.read<std::uint32_t>();
  assignment.host_index = in.read<std::uint32_t>();
  assignment.host_count = in.read<std::uint32_t>();
  assignment.earlier_count = in.read<std::uint32_t>();
  assignment.other_count = in.read<std::uint32_t>();
  const std::size_t count = in.read<std::uint32_t>();
  assignment.transport = in.read_text();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    assignment.ranks.push_back(in.read<std::uint32_t>());
    assignment.groups.push_back(in.read<std::uint32_t>());
    if (assignment.ranks.back() >= assignment.world_size) return std::nullopt;
  }
  const std::size_t arena_count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < arena_count && in.ok(); ++i)
    assignment.arenas.push_back(in.read_text());
  const std::size_t evaluator_count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < evaluator_count && in.ok(); ++i) {
    assignment.evaluators.push_back(in.read<std::uint32_t>());
  }
  assignment.sends_output = in.read<std::uint8_t>() != 0;
  const bool is_sound =
      assignment.world > 0 && assignment.world_size <= rendezvous::kMaxWorldSize &&
      assignment.other_count <= rendezvous::kMaxWorldSize &&
      assignment.earlier_count <= assignment.other_count &&
      (assignment.arenas.empty() || assignment.arenas.size() == assignment.world_size);
  if (!is_whole(in) || !is_sound) return std::nullopt;
  return assignment;
}

std::string encode(const HostEndpoints& endpoints) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(endpoints.may_spin));
  out.write(static_cast<std::uint32_t>(endpoints.addresses.size()));
  for (std::size_t i = 0; i < endpoints.addresses.size(); ++i) {
    out.write(endpoints.addresses[i]);
    out.write(endpoints.cores[i]);
    out.write(endpoints.devices[i]);
  }
  out.write(endpoints.free.address);
  out.write(static_cast<std::uint32_t>(endpoints.free.ports.size()));
  for (const std::uint16_t port : endpoints.free.ports) out.write(port);
  return out.take_text();
}

std::optional<HostEndpoints> decode_endpoints(std::string_view text) {
  base::ByteReader in = reader_of(text);
  HostEndpoints endpoints;
  endpoints.may_spin = in.read<std::uint8_t>() != 0;
  const std::size_t count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    endpoints.addresses.push_back(in.read_text());
    endpoints.cores.push_back(in.read_text());
    endpoints.devices.push_back(in.read_text());
  }
  endpoints.free.address = in.read_text();
  const std::size_t port_count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < port_count && in.ok(); ++i) {
    endpoints.free.ports.push_back(in.read<std::uint16_t>());
  }
  if (!is_whole(in)) return std::nullopt;
  return endpoints;
}

std::string encode(const StartInfo& start_info) {
  base::ByteWriter out;
  out.write(start_info.salt);
  out.write(start_info.table);
  out.write(static_cast<std::uint8_t>(start_info.peers.first.has_value()));
  out.write(start_info.peers.first ? start_info.peers.first->host : "");
  out.write(start_info.peers.first ? start_info.peers.first->port : std::uint16_t{0});
  out.write(start_info.peers.list);
  out.write(encode(start_info.mpi));
  return out.take_text();
}

std::optional<StartInfo> decode_start_info(std::string_view text) {
  base::ByteReader in = reader_of(text);
  StartInfo start_info{.salt = in.read_text()};
  start_info.table = in.read_text();
  const bool has_first = in.read<std::uint8_t>() != 0;
  Endpoint first{.host = in.read_text()};
  first.port = in.read<std::uint16_t>();
  if (has_first) start_info.peers.first = std::move(first);
  start_info.peers.list = in.read_text();
  auto mpi = decode_mpi_plan(in.read_text());
  if (!is_whole(in) || !mpi) return std::nullopt;
  start_info.mpi = *std::move(mpi);
  return start_info;
}

}  // namespace rota::launcher
