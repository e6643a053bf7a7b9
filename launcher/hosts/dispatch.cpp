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
  hello.obstacle_code = static_cast<int>(in.read<std::uint32_t>());
  hello.obstacle = in.read_text();
  const bool makes_sense = hello.slot_count > 0 && hello.slot_count <= rendezvous::kMaxWorldSize;
  if (!is_whole(in) || !makes_sense) return std::nullopt;
  return hello;
}

std::string encode(const Assignment& assignment) {
  base::ByteWriter out;
  out.write(static_cast<std::uint32_t>(assignment.world_size));
  out.write(static_cast<std::uint32_t>(assignment.ranks.size()));
  for (const std::size_t rank : assignment.ranks) out.write(static_cast<std::uint32_t>(rank));
  return text_of(std::move(out));
}

std::optional<Assignment> decode_assignment(std::string_view text) {
  base::ByteReader in = reader_of(text);
  Assignment assignment;
  assignment.world_size = in.read<std::uint32_t>();
  const std::size_t count = in.read<std::uint32_t>();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    assignment.ranks.push_back(in.read<std::uint32_t>());
    if (assignment.ranks.back() >= assignment.world_size) return std::nullopt;
  }
  if (!is_whole(in) || assignment.world_size > rendezvous::kMaxWorldSize) return std::nullopt;
  return assignment;
}

std::string encode(const Seats& seats) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(seats.may_spin));
  out.write(static_cast<std::uint32_t>(seats.addresses.size()));
  for (std::size_t i = 0; i < seats.addresses.size(); ++i) {
    out.write(seats.addresses[i]);
    out.write(seats.cores[i]);
  }
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
  if (!is_whole(in)) return std::nullopt;
  return seats;
}

}  // namespace rota::launcher
