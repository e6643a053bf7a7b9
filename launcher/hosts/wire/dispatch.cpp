// Fields, one after the other.
#include "launcher/hosts/wire/dispatch.h"

#include <algorithm>
#include <utility>

#include "base/byte_stream.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

base::ByteReader reader_of(std::string_view text) {
  return base::ByteReader(std::as_bytes(std::span(text)));
}

std::string text_of(base::ByteWriter out) {
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

std::vector<std::byte> encode(const Dispatch& dispatch) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(dispatch.type));
  out.write(dispatch.rank);
  out.write(static_cast<std::uint32_t>(dispatch.value));
  out.write(dispatch.text);
  return out.take();
}

std::optional<Dispatch> decode_dispatch(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  const auto type = in.read<std::uint8_t>();
  Dispatch dispatch{.type = static_cast<DispatchType>(type)};
  dispatch.rank = in.read<std::uint32_t>();
  dispatch.value = static_cast<int>(in.read<std::uint32_t>());
  dispatch.text = in.read_text();
  const bool is_known = type >= static_cast<std::uint8_t>(DispatchType::kHello) &&
                        type <= static_cast<std::uint8_t>(DispatchType::kBeat);
  if (!is_whole(in) || !is_known) return std::nullopt;
  return dispatch;
}

std::string encode(const std::vector<HostText>& by_host) {
  base::ByteWriter out;
  out.write(static_cast<std::uint32_t>(by_host.size()));
  for (const HostText& entry : by_host) {
    out.write(static_cast<std::uint32_t>(entry.host));
    out.write(entry.text);
  }
  return text_of(std::move(out));
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
  return text_of(std::move(out));
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

std::string encode(const Share& share) {
  base::ByteWriter out;
  out.write(share.world);
  for (const std::size_t number : {share.world_size, share.host_index, share.host_count,
                                   share.earlier_count, share.other_count, share.ranks.size()}) {
    out.write(static_cast<std::uint32_t>(number));
  }
  out.write(share.transport);
  for (std::size_t i = 0; i < share.ranks.size(); ++i) {
    out.write(static_cast<std::uint32_t>(share.ranks[i]));
    out.write(static_cast<std::uint32_t>(share.groups[i]));
  }
  out.write(static_cast<std::uint32_t>(share.arenas.size()));
  for (const std::string& path : share.arenas) out.write(path);
  out.write(static_cast<std::uint32_t>(share.evaluators.size()));
  for (const std::size_t group : share.evaluators) out.write(static_cast<std::uint32_t>(group));
  out.write(static_cast<std::uint8_t>(share.sends_output));
  return text_of(std::move(out));
}

std::optional<Share> decode_share(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Share share;
  share.world = in.read<std::uint32_t>();
  share.world_size = in.read<std::uint32_t>();
  share.host_index = in.read<std::uint32_t>();
  share.host_count = in.read<std::uint32_t>();
  share.earlier_count = in.read<std::uint32_t>();
  share.other_count = in.read<std::uint32_t>();
  const std::size_t count = in.read<std::uint32_t>();
  share.transport = in.read_text();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    share.ranks.push_back(in.read<std::uint32_t>());
    share.groups.push_back(in.read<std::uint32_t>());
    if (share.ranks.back() >= share.world_size) return std::nullopt;
  }
  const std::size_t arena_count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < arena_count && in.ok(); ++i) share.arenas.push_back(in.read_text());
  const std::size_t evaluator_count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < evaluator_count && in.ok(); ++i) {
    share.evaluators.push_back(in.read<std::uint32_t>());
  }
  share.sends_output = in.read<std::uint8_t>() != 0;
  const bool is_sound = share.world > 0 && share.world_size <= rendezvous::kMaxWorldSize &&
                        share.other_count <= rendezvous::kMaxWorldSize &&
                        share.earlier_count <= share.other_count &&
                        (share.arenas.empty() || share.arenas.size() == share.world_size);
  if (!is_whole(in) || !is_sound) return std::nullopt;
  return share;
}

std::string encode(const Seats& seats) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(seats.may_spin));
  out.write(static_cast<std::uint32_t>(seats.addresses.size()));
  for (std::size_t i = 0; i < seats.addresses.size(); ++i) {
    out.write(seats.addresses[i]);
    out.write(seats.cores[i]);
    out.write(seats.devices[i]);
  }
  out.write(seats.free.address);
  out.write(static_cast<std::uint32_t>(seats.free.ports.size()));
  for (const std::uint16_t port : seats.free.ports) out.write(port);
  return text_of(std::move(out));
}

std::optional<Seats> decode_seats(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Seats seats;
  seats.may_spin = in.read<std::uint8_t>() != 0;
  const std::size_t count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    seats.addresses.push_back(in.read_text());
    seats.cores.push_back(in.read_text());
    seats.devices.push_back(in.read_text());
  }
  seats.free.address = in.read_text();
  const std::size_t port_count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < port_count && in.ok(); ++i) {
    seats.free.ports.push_back(in.read<std::uint16_t>());
  }
  if (!is_whole(in)) return std::nullopt;
  return seats;
}

std::string encode(const Beginning& beginning) {
  base::ByteWriter out;
  out.write(beginning.salt);
  out.write(beginning.table);
  out.write(static_cast<std::uint8_t>(beginning.peers.first.has_value()));
  out.write(beginning.peers.first ? beginning.peers.first->host : "");
  out.write(beginning.peers.first ? beginning.peers.first->port : std::uint16_t{0});
  out.write(beginning.peers.list);
  return text_of(std::move(out));
}

std::optional<Beginning> decode_beginning(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Beginning beginning{.salt = in.read_text()};
  beginning.table = in.read_text();
  const bool has_first = in.read<std::uint8_t>() != 0;
  Endpoint first{.host = in.read_text()};
  first.port = in.read<std::uint16_t>();
  if (has_first) beginning.peers.first = std::move(first);
  beginning.peers.list = in.read_text();
  if (!is_whole(in)) return std::nullopt;
  return beginning;
}

}  // namespace rota::launcher
