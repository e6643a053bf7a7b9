// The fields of a message, one after the other.
#include "rendezvous/message.h"

#include "base/byte_stream.h"

namespace rota::rendezvous {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::uint32_t kNobody = 0xffffffff;

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  base::ByteWriter out;
  out.write(kVersion);
  out.write(static_cast<std::uint8_t>(message.type));
  out.write(message.id);
  out.write(static_cast<std::uint8_t>(message.error ? static_cast<unsigned>(*message.error) : 0U));
  out.write(message.blamed.value_or(kNobody));
  out.write(static_cast<std::uint64_t>(message.timeout.count()));
  out.write(message.step);
  out.write(message.key);
  out.write(message.text);
  return out.take();
}

std::optional<Message> decode(std::span<const std::byte> bytes) noexcept {
  base::ByteReader in(bytes);
  if (in.read<std::uint8_t>() != kVersion) return std::nullopt;
  Message message;
  const auto type = in.read<std::uint8_t>();
  message.id = in.read<std::uint32_t>();
  const auto error = in.read<std::uint8_t>();
  const auto blamed = in.read<std::uint32_t>();
  message.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(in.read<std::uint64_t>()));
  message.step = in.read<std::uint64_t>();
  message.key = in.read_text();
  message.text = in.read_text();
  if (!in.ok() || !in.at_end()) return std::nullopt;
  if (type < static_cast<std::uint8_t>(MessageType::kJoin) ||
      type > static_cast<std::uint8_t>(MessageType::kStopAfter)) {
    return std::nullopt;
  }
  if (error > static_cast<std::uint8_t>(ErrorCode::kNotFinite)) return std::nullopt;
  message.type = static_cast<MessageType>(type);
  if (error != 0) message.error = static_cast<ErrorCode>(error);
  if (blamed != kNobody) message.blamed = blamed;
  return message;
}

}  // namespace rota::rendezvous
