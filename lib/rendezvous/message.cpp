// Encodes and decodes the fields of a message, one after the other.
#include "rendezvous/message.h"

#include <algorithm>
#include <array>

#include "auth/key.h"
#include "base/byte_stream.h"
#include "os/secret_memory.h"

namespace rota::rendezvous {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::uint32_t kNobody = 0xffffffff;

// This is more than the fields of a message need besides key and text.
constexpr std::size_t kMostFieldBytes = 64;

// Returns the secret at the end of a text: the key, if the text is a job; otherwise nothing.
std::span<const std::byte> secret_in(MessageType type, std::span<const std::byte> text) {
  const bool has_key = type == MessageType::kWelcome && text.size() >= auth::kKeyBytes;
  return has_key ? text.last(auth::kKeyBytes) : std::span<const std::byte>();
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  base::ByteWriter out;
  out.reserve(kMostFieldBytes + message.key.size() +
              message.text.size());  // No stray copy of a key: see Connections::Pending.
  out.write(kVersion);
  out.write(static_cast<std::uint8_t>(message.type));
  out.write(message.id);
  out.write(static_cast<std::uint8_t>(message.error ? static_cast<unsigned>(*message.error) : 0U));
  out.write(message.blamed.value_or(kNobody));
  out.write(static_cast<std::uint64_t>(message.timeout.count()));
  out.write(message.step);
  out.write(message.key);
  const auto text = base::bytes_of(message.text);
  const auto secret = secret_in(message.type, text);
  constexpr std::array<std::byte, auth::kKeyBytes> kRoom{};
  out.write(static_cast<std::uint32_t>(text.size()));
  out.append(text.first(text.size() - secret.size()));
  out.append(std::span(kRoom).first(secret.size()));
  std::vector<std::byte> bytes = out.take();
  os::copy_secret(secret, std::span(bytes).last(secret.size()));
  return bytes;
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
  const auto text = in.read_bytes();
  const auto secret = secret_in(static_cast<MessageType>(type), text);
  message.text.resize(text.size());
  const auto into = std::as_writable_bytes(std::span(message.text));
  std::ranges::copy(text.first(text.size() - secret.size()), into.begin());
  os::copy_secret(secret, into.last(secret.size()));
  if (!in.ok() || !in.at_end()) return std::nullopt;
  if (type < static_cast<std::uint8_t>(MessageType::kJoin) ||
      type > static_cast<std::uint8_t>(MessageType::kStopAfter)) {
    return std::nullopt;
  }
  if (error > static_cast<std::uint8_t>(ErrorCode::kCannotWrite)) return std::nullopt;
  message.type = static_cast<MessageType>(type);
  if (error != 0) message.error = static_cast<ErrorCode>(error);
  if (blamed != kNobody) message.blamed = blamed;
  return message;
}

}  // namespace rota::rendezvous
