// Fields, one after the other.
#include "launcher/hosts/dispatch.h"

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

std::string encode(const Hello& hello) {
  base::ByteWriter out;
  out.write(hello.version);
  out.write(hello.host);
  out.write(hello.cluster);
  out.write(hello.instance);
  out.write(static_cast<std::uint32_t>(hello.slot_count));
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
  hello.instance = in.read_text();
  hello.slot_count = in.read<std::uint32_t>();
  hello.program = in.read_text();
  hello.obstacle_code = static_cast<int>(in.read<std::uint32_t>());
  hello.obstacle = in.read_text();
  if (!is_whole(in) || hello.slot_count > rendezvous::kMaxWorldSize) return std::nullopt;
  return hello;
}

std::string encode(const Share& share) {
  base::ByteWriter out;
  for (const std::size_t number :
       {share.world_size, share.host_index, share.host_count, share.ranks.size()}) {
    out.write(static_cast<std::uint32_t>(number));
  }
  for (const std::size_t rank : share.ranks) out.write(static_cast<std::uint32_t>(rank));
  return text_of(std::move(out));
}

std::optional<Share> decode_share(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Share share;
  share.world_size = in.read<std::uint32_t>();
  share.host_index = in.read<std::uint32_t>();
  share.host_count = in.read<std::uint32_t>();
  const std::size_t count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    share.ranks.push_back(in.read<std::uint32_t>());
    if (share.ranks.back() >= share.world_size) return std::nullopt;
  }
  if (!is_whole(in) || share.world_size > rendezvous::kMaxWorldSize) return std::nullopt;
  return share;
}

std::string encode(const Seats& seats) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(seats.may_spin));
  out.write(static_cast<std::uint32_t>(seats.addresses.size()));
  for (std::size_t i = 0; i < seats.addresses.size(); ++i) {
    out.write(seats.addresses[i]);
    out.write(seats.cores[i]);
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
  out.write(static_cast<std::uint8_t>(beginning.peers.first.has_value()));
  out.write(beginning.peers.first ? beginning.peers.first->host : "");
  out.write(beginning.peers.first ? beginning.peers.first->port : std::uint16_t{0});
  out.write(beginning.peers.list);
  return text_of(std::move(out));
}

std::optional<Beginning> decode_beginning(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Beginning beginning{.salt = in.read_text()};
  const bool has_first = in.read<std::uint8_t>() != 0;
  Endpoint first{.host = in.read_text()};
  first.port = in.read<std::uint16_t>();
  if (has_first) beginning.peers.first = std::move(first);
  beginning.peers.list = in.read_text();
  if (!is_whole(in)) return std::nullopt;
  return beginning;
}

}  // namespace rota::launcher
